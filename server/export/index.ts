import { createCatalogue } from "#lib/market/catalogue";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { terminalOf } from "#server/import/progress";
import { OPTIONS, readOptions, USAGE } from "./options";
import { runExport } from "./run";
import { sandboxKlines, storedKlines } from "./series";
import { exportTicks } from "./ticks";

/** `npm run export`. */
export const exportCommand = defineCommand({
  name: "export",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, { clock, print, readEnv, stopSignal, withDatabase }) {
    const options = readOptions(values, positionals);
    const { venue } = options;
    return withDatabase(async (database) => {
      const catalogue = await createCatalogue(database, venue);
      const common = { options, catalogue, terminal: terminalOf(print), clock, signal: stopSignal() };
      if (options.ticks) return exportTicks(database, common);
      const source = venue === "live" ? storedKlines(database, clock) : sandboxKlines(catalogue, readEnv().SANDBOX_SEED, clock);
      return runExport({ ...common, source });
    });
  },
});

await runAsProcess(import.meta.url, exportCommand);
