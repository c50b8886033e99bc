import { availableParallelism } from "node:os";
import { bundleServer } from "#server/cli/bundle";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { readTable, worseThan, writeTable } from "./committed";
import { nodesOf, startRunners } from "./nodes";
import { OPTIONS, readOptions, USAGE } from "./options";
import { joined, type Row, type TableRow, tableText } from "./table";

/**
 * `npm run bench`: ratios from one run, contestants in turn. Absolute numbers depend on the machine and its other load, so
 * the benches compare requests or messages per CPU-second of the server.
 */
const benchCommand = defineCommand({
  name: "bench",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, { clock, errors, print }) {
    const { effort, chosen, write } = readOptions({ values, names: positionals });
    // The sources as they are now, even if nobody built since.
    await bundleServer();
    const runners = await startRunners();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(EXIT_FAILED));
    process.once("exit", () => {
      for (const runner of runners.values()) runner.stop();
    });
    const rows: TableRow[] = [];
    let failed = false;
    for (const name of chosen) {
      const measured: Record<string, Row[]> = {};
      for (const node of nodesOf(name)) {
        errors.write(`running ${name} with Node ${node} …\n`);
        try {
          measured[node] = (await runners.get(node)?.run(name, effort)) ?? [];
        } catch (error) {
          // The others of a long run are not lost.
          failed = true;
          errors.write(`${name} failed: ${error instanceof Error ? error.message : error}\n`);
        }
      }
      const found = joined(measured);
      errors.write(tableText(found));
      rows.push(...found);
    }
    const [date = ""] = new Date(clock.now()).toISOString().split("T");
    const machine = `${availableParallelism()} cores${write === undefined ? "" : `, ${write}`}`;
    print(`\n${date}: ${machine}`);
    print(tableText(rows));
    // Read before it is written.
    const remarks = worseThan(readTable(), rows);
    for (const line of remarks) errors.write(`${line}\n`);
    if (failed) errors.write("A bench failed, so that no table is written.\n");
    else if (write !== undefined) writeTable({ date, machine, rows });
    return failed || remarks.length > 0 ? EXIT_FAILED : EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, benchCommand);
process.exit();
