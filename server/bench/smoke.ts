import { bundleServer } from "#server/cli/bundle";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { readTable, worseThan } from "./committed";
import { benchIngest } from "./ingest";
import type { Effort } from "./load";
import { benchShortRest } from "./rest";
import { benchFanout } from "./stream-fanout";
import { type Row, tableText } from "./table";

const EFFORT: Effort = { seconds: 0.5, rounds: 3, warmUpCpuS: 1 };
const BENCHES: readonly ((effort: Effort) => Promise<Row[]>)[] = [benchShortRest, benchFanout, benchIngest];

const USAGE = `npm run bench:smoke

Runs a short form of the cheap benches, about a minute, and fails when a ratio is less than half as good as in server/bench/table.json.`;

/** `npm run bench:smoke`. */
const smokeCommand = defineCommand({
  name: "bench:smoke",
  usage: USAGE,
  options: {},
  async run(_, { errors, print }) {
    const committed = readTable();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(EXIT_FAILED));
    await bundleServer();
    const rows: Row[] = [];
    for (const bench of BENCHES) rows.push(...(await bench(EFFORT)));
    print(tableText(rows));
    const worse = worseThan(committed, rows);
    for (const line of worse) errors.write(`less than half as good as before: ${line}\n`);
    return worse.length > 0 ? EXIT_FAILED : EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, smokeCommand);
process.exit();
