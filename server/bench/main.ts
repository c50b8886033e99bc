import { execFileSync } from "node:child_process";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED, UsageError } from "#server/cli/usage-error";
import { benchCluster } from "./cluster";
import { benchCold } from "./cold";
import { benchDashboard } from "./dashboard";
import { benchEncodings } from "./encodings";
import { benchFlood } from "./flood";
import { benchImport } from "./import";
import { benchIngest } from "./ingest";
import { benchKlines } from "./klines";
import { benchLighthouse } from "./lighthouse";
import { benchProcesses } from "./processes";
import { benchQuotes } from "./quotes";
import { benchStrangers } from "./strangers";
import { benchEngine } from "./stream-engine";
import { benchFanout } from "./stream-fanout";
import { benchIdle } from "./stream-idle";
import { benchSlow } from "./stream-slow";
import type { Row } from "./table";
import { printTable } from "./table";
import { benchUnits } from "./units";
import { benchUsage } from "./usage";

/**
 * `npm run bench`: ratios from one run, contestants in turn. Absolute numbers depend on the machine and its other load, so
 * the benches compare requests or messages per CPU-second of the server.
 */
const BENCHES: Record<string, (seconds: number) => Promise<Row[]>> = {
  quotes: benchQuotes,
  klines: benchKlines,
  import: benchImport,
  fanout: benchFanout,
  idle: benchIdle,
  encodings: benchEncodings,
  slow: benchSlow,
  engine: benchEngine,
  ingest: benchIngest,
  usage: benchUsage,
  dashboard: benchDashboard,
  flood: benchFlood,
  strangers: benchStrangers,
  processes: benchProcesses,
  cluster: benchCluster,
  cold: benchCold,
  units: benchUnits,
  lighthouse: benchLighthouse,
};

const USAGE = `npm run bench -- [NAME…] [--seconds 5]

Runs the named benches, or all of them: ${Object.keys(BENCHES).join(", ")}.
  --seconds 5   duration of one measurement`;

function readArguments(seconds: string, names: readonly string[]) {
  const unknown = names.find((name) => BENCHES[name] === undefined);
  if (unknown !== undefined) throw new UsageError(`Unknown bench "${unknown}": use one of ${Object.keys(BENCHES).join(", ")}.`);
  if (!(Number(seconds) > 0)) throw new UsageError(`--seconds ${seconds}: must be a number above 0.`);
  return { seconds: Number(seconds), chosen: names.length > 0 ? names : Object.keys(BENCHES) };
}

/** `npm run bench`. */
const benchCommand = defineCommand({
  name: "bench",
  usage: USAGE,
  options: { seconds: { type: "string", default: "5" } },
  async run({ values, positionals }, { errors, print }) {
    const { seconds, chosen } = readArguments(values.seconds, positionals);
    // Servers and clients exit with this process, even when it is interrupted.
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(EXIT_FAILED));
    const rows: Row[] = [];
    for (const name of chosen) {
      errors.write(`running ${name} …\n`);
      rows.push(...((await BENCHES[name]?.(seconds)) ?? []));
    }
    print(`\nNode ${process.version}, ${execFileSync("nproc").toString().trim()} cores, ${new Date().toISOString()}`);
    printTable(rows);
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, benchCommand);
process.exit();
