import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { benchCluster } from "./cluster";
import { benchCold } from "./cold";
import { benchDashboard } from "./dashboard";
import { benchFlood } from "./flood";
import { benchImport } from "./import";
import { benchKlines } from "./klines";
import { benchQuotes } from "./quotes";
import { benchEngine } from "./stream-engine";
import { benchFanout } from "./stream-fanout";
import { benchIdle } from "./stream-idle";
import { benchSlow } from "./stream-slow";
import type { Row } from "./table";
import { printTable } from "./table";
import { benchUsage } from "./usage";

/**
 * `npm run bench`: ratios from one run, contestants in turn. Absolute numbers depend on the machine and on what else it
 * does; requests or messages per CPU-second of the server are what is compared.
 */
const BENCHES: Record<string, (seconds: number) => Promise<Row[]>> = {
  quotes: benchQuotes,
  klines: benchKlines,
  import: benchImport,
  fanout: benchFanout,
  idle: benchIdle,
  slow: benchSlow,
  engine: benchEngine,
  usage: benchUsage,
  dashboard: benchDashboard,
  flood: benchFlood,
  cluster: benchCluster,
  cold: benchCold,
};

// However it ends, it ends by exit, which takes the servers and clients along.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const { values, positionals } = parseArgs({ options: { seconds: { type: "string", default: "5" } }, allowPositionals: true });
const chosen = positionals.length > 0 ? positionals : Object.keys(BENCHES);
const rows: Row[] = [];
for (const name of chosen) {
  const bench = BENCHES[name];
  if (bench === undefined) {
    process.stderr.write(`unknown bench "${name}"; there are: ${Object.keys(BENCHES).join(", ")}\n`);
    process.exit(2);
  }
  process.stderr.write(`running ${name} …\n`);
  rows.push(...(await bench(Number(values.seconds))));
}
process.stdout.write(
  `\nNode ${process.version}, ${execFileSync("nproc").toString().trim()} cores, ${new Date().toISOString()}\n`,
);
printTable(rows);
process.exit(0);
