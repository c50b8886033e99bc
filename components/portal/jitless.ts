import { config } from "zod";

// For browsers only. The security policy forbids generating code from text. zod would try it with every object schema, and each
// attempt is reported as an attack. This has to be evaluated before any schema.
config({ jitless: true });
