import { writeFileSync } from "node:fs";
import { envExample } from "#lib/env-example";
import { defineCommand, runAsProcess, wordsOf } from "./run-command";
import { EXIT_DONE } from "./usage-error";

const FILE = ".env.example";

/** `npm run docs:env`. */
const envExampleCommand = defineCommand({
  name: "docs:env",
  usage: `npm run docs:env\n\n  Writes ${FILE} from the schema of the environment.`,
  options: {},
  run({ positionals }) {
    wordsOf(positionals);
    writeFileSync(FILE, envExample());
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, envExampleCommand);
