import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { dropOldRows, listImports, redoNumbered, undoNumbered } from "./history";
import { OPTIONS, readOptions, USAGE } from "./options";
import { terminalOf } from "./progress";
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
    if (word === "drop-rows") return dropOldRows(words, { clock, print, withDatabase });
    if (word === "redo") return redoNumbered(words, { clock, print, withDatabase });
    const options = readOptions(values, positionals);
    return withDatabase((database) => runImport({ options, database, terminal: terminalOf(print), clock, signal: stopSignal() }));
  },
});

await runAsProcess(import.meta.url, importCommand);
