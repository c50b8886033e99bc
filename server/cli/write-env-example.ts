import { writeFileSync } from "node:fs";
import { envExample } from "#lib/env-example";

/** npm run docs:env: writes .env.example from the schema of the environment. */
writeFileSync(".env.example", envExample());
