import { bundleServer } from "#server/cli/bundle";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { readTable, worseThan } from "./committed";
import { benchIngest } from "./ingest";
import type { Effort } from "./load";
import { benchShortRest } from "./rest";
import { benchFanout } from "./stream-fanout";
import { type Row, tableText } from "./table";

const SHORT: Effort = { seconds: 0.5, rounds: 3, warmUpCpuS: 1 };
/** For what looks worse in the short run: a busy moment of the machine, or code that is not compiled yet. */
const LONG: Effort = { seconds: 2, rounds: 5, warmUpCpuS: 3 };
const BENCHES: readonly ((effort: Effort) => Promise<Row[]>)[] = [benchShortRest, benchFanout, benchIngest];

const USAGE = `npm run bench:smoke

Runs a short form of the cheap benches, about a minute, and fails when a ratio is less than half as good as in server/bench/table.json.
A bench with such a ratio is measured again, for longer, before that.`;

/** `npm run bench:smoke`. */
const smokeCommand = defineCommand({
  name: "bench:smoke",
  usage: USAGE,
  options: {},
  async run(_, { errors, print }) {
    const committed = readTable();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(EXIT_FAILED));
    await bundleServer();
    const worse: string[] = [];
    for (const bench of BENCHES) {
      const measured = await bench(SHORT);
      print(tableText(measured));
      if (worseThan(committed, measured).length === 0) continue;
      const again = await bench(LONG);
      print(tableText(again));
      worse.push(...worseThan(committed, again));
    }
    for (const line of worse) errors.write(`less than half as good as before: ${line}\n`);
    return worse.length > 0 ? EXIT_FAILED : EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, smokeCommand);
process.exit();
