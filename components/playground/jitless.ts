import { config } from "zod";

// For browsers alone. The pages' security policy forbids making code from text. zod would try it with every object schema, and each try is
// reported as an attack. This has to be evaluated before any schema is.
config({ jitless: true });
