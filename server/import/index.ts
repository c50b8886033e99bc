import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { listImports, undoNumbered } from "./history";
import { OPTIONS, readOptions, USAGE } from "./options";
import { runImport } from "./run";

/** `npm run import`. */
export const importCommand = defineCommand({
  name: "import",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, { clock, print, stopSignal, withDatabase }) {
    const [word, ...words] = positionals;
    if (word === "list") return listImports(words, { clock, print, withDatabase });
    if (word === "undo") return undoNumbered(words, { clock, print, withDatabase });
    const options = readOptions(values, positionals);
    const terminal = { line: print, bar: process.stdout.isTTY ? process.stdout : null };
    return withDatabase((database) => runImport({ options, database, terminal, clock, signal: stopSignal() }));
  },
});

await runAsProcess(import.meta.url, importCommand);
