import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { terminalOf } from "#server/import/progress";
import { createCatalogue } from "#server/store/market/catalogue";
import { OPTIONS, readOptions, USAGE } from "./options";
import { dayTicks, exportParts, monthFiles } from "./parts";
import { runExport } from "./run";
import { openFiles, sandboxKlines, storedKlines } from "./series";

/** `npm run export`. */
export const exportCommand = defineCommand({
  name: "export",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, { clock, print, readEnv, stopSignal, withDatabase }) {
    const options = readOptions(values, positionals);
    const { venue, ticks, format } = options;
    const seed = readEnv().SANDBOX_SEED;
    return withDatabase(async (database) => {
      const catalogue = await createCatalogue(database, venue);
      const common = { options, catalogue, terminal: terminalOf(print), clock, signal: stopSignal() };
      if (ticks) return exportParts(dayTicks(database, format), "ticks", common);
      if (format === "csv") {
        const source = venue === "live" ? storedKlines(database, clock) : sandboxKlines(catalogue, seed, clock);
        return runExport({ ...common, source });
      }
      const files = openFiles({ venue, db: database, catalogue, seed, clock });
      return exportParts(monthFiles(files.klines), "klines", common).finally(files.close);
    });
  },
});

await runAsProcess(import.meta.url, exportCommand);
