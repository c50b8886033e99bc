import { defineCommand, runAsProcess, wordsOf } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { OPTIONS, readOptions, USAGE } from "./options";
import { report } from "./report";
import { simulate } from "./simulation";
import { sizeFor } from "./sizing";

/** `npm run simulate`. */
const simulateCommand = defineCommand({
  name: "simulate",
  usage: USAGE,
  options: OPTIONS,
  run({ values, positionals }, { errors, print }) {
    wordsOf(positionals);
    const { scene, target } = readOptions(values);
    const result = simulate(scene);
    print(`${report(result, sizeFor(result, target), target)}\nNode ${process.version}, ${new Date().toISOString()}`);
    const { count, examples } = result.complaints;
    if (count === 0) return EXIT_DONE;
    errors.write(`${count} times a client did not receive what it should:\n${examples.map((line) => `  ${line}\n`).join("")}`);
    return EXIT_FAILED;
  },
});

await runAsProcess(import.meta.url, simulateCommand);
