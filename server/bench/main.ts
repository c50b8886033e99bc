import { availableParallelism } from "node:os";
import { bundleServer } from "#server/cli/bundle";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { benchCluster } from "./cluster";
import { benchCold } from "./cold";
import { writeTable } from "./committed";
import { benchEncodings } from "./encodings";
import { benchGrowth } from "./growth";
import { benchImport } from "./import";
import { benchIngest } from "./ingest";
import { benchLayers } from "./layers";
import { benchMemory } from "./memory";
import { type Bench, OPTIONS, readOptions, usageOf } from "./options";
import { benchKlines, benchQuotes, benchRefused, benchStatus, benchUnchanged } from "./rest";
import { benchInstall, benchStart } from "./start";
import { benchFanout, benchLatency } from "./stream-fanout";
import { benchIdle } from "./stream-idle";
import type { Row } from "./table";
import { tableText } from "./table";
import { benchUnits } from "./units";
import { benchWorkers } from "./workers";

/**
 * `npm run bench`: ratios from one run, contestants in turn. Absolute numbers depend on the machine and its other load, so
 * the benches compare requests or messages per CPU-second of the server.
 */
const BENCHES: Record<string, Bench> = {
  quotes: benchQuotes,
  klines: benchKlines,
  unchanged: benchUnchanged,
  refused: benchRefused,
  status: benchStatus,
  fanout: benchFanout,
  latency: benchLatency,
  ingest: benchIngest,
  start: benchStart,
  idle: benchIdle,
  memory: benchMemory,
  import: benchImport,
  cold: benchCold,
  layers: benchLayers,
  install: benchInstall,
};
/** Run only when they are named: they compare the product with itself, so that they are no part of the table. */
const OTHERS: Record<string, Bench> = {
  cluster: benchCluster,
  units: benchUnits,
  workers: benchWorkers,
  encodings: benchEncodings,
  growth: benchGrowth,
};

const FAILED = "failed: ";
const EXCERPT_CHARACTERS = 500;

/** A bench that fails says so in a row, so that the others of a long run are not lost. */
async function rowsOf(name: string, measured: Promise<Row[]>): Promise<Row[]> {
  try {
    return await measured;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // A cell of the table is one line.
    return [{ what: name, value: FAILED + message.replaceAll(/[\s|]+/g, " ").slice(0, EXCERPT_CHARACTERS) }];
  }
}

/** `npm run bench`. */
const benchCommand = defineCommand({
  name: "bench",
  usage: usageOf(BENCHES, OTHERS),
  options: OPTIONS,
  async run({ values, positionals }, { clock, errors, print }) {
    const { effort, chosen, write } = readOptions({ values, names: positionals, benches: BENCHES, others: OTHERS });
    // Servers and clients exit with this process, even when it is interrupted.
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(EXIT_FAILED));
    // The sources as they are now, even if nobody built since.
    await bundleServer();
    const rows: Row[] = [];
    for (const [name, bench] of chosen) {
      errors.write(`running ${name} …\n`);
      const found = await rowsOf(name, bench(effort));
      errors.write(tableText(found));
      rows.push(...found);
    }
    const [date = ""] = new Date(clock.now()).toISOString().split("T");
    const machine = `${availableParallelism()} cores, Node ${process.version.slice(1)}${write === undefined ? "" : `, ${write}`}`;
    print(`\n${date}: ${machine}`);
    print(tableText(rows));
    const failed = rows.some(({ value }) => value.startsWith(FAILED));
    if (failed) errors.write("A bench failed, so that no table is written.\n");
    else if (write !== undefined) writeTable({ date, machine, rows });
    return failed ? EXIT_FAILED : EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, benchCommand);
process.exit();
