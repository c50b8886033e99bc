import { availableParallelism } from "node:os";
import { bundleServer } from "#server/cli/bundle";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { againstText, buildAt, commitOf } from "./against";
import { readTable, worseThan, writeTable } from "./committed";
import { nodesOf, type Runner, startNewest, startRunners } from "./nodes";
import { OPTIONS, readOptions, USAGE } from "./options";
import { joined, type Row, type TableRow, tableText } from "./table";

type Say = (name: string, text: string) => void;

/** Measures benches in this checkout and at another commit, in turn. @returns a table of each, and whether all succeeded */
async function compareAgainst(
  { effort, chosen }: Pick<ReturnType<typeof readOptions>, "effort" | "chosen">,
  commit: string,
  say: Say,
): Promise<{ readonly tables: readonly string[]; readonly succeeded: boolean }> {
  say(commit, "is checked out and built, unless it was before …");
  const built = await buildAt(commit);
  const both = { here: await startNewest(), there: await startNewest(built.folder) };
  stopAtExit(Object.values(both));
  const tables: string[] = [];
  for (const name of chosen) {
    const runs: Record<keyof typeof both, Row[][]> = { here: [], there: [] };
    try {
      for (let round = 0; round < effort.rounds; round += 1) {
        say(name, `round ${round + 1} of ${effort.rounds} …`);
        // Which is first changes, so that a busier machine favours neither.
        for (const which of round % 2 === 0 ? (["here", "there"] as const) : (["there", "here"] as const))
          runs[which].push(await both[which].run(name, { ...effort, rounds: 1 }));
      }
      tables.push(againstText(runs, built.commit));
    } catch (error) {
      say(name, `failed: ${error instanceof Error ? error.message : error}. Does ${built.commit} have this bench?`);
    }
  }
  return { tables, succeeded: tables.length === chosen.length };
}

function stopAtExit(runners: readonly Runner[]): void {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(EXIT_FAILED));
  process.once("exit", () => {
    for (const runner of runners) runner.stop();
  });
}

/**
 * `npm run bench`: ratios from one run, contestants in turn. Absolute numbers depend on the machine and its other load, so
 * the benches compare requests or messages per CPU-second of the server.
 */
const benchCommand = defineCommand({
  name: "bench",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, { clock, errors, print }) {
    const { effort, chosen, write, against } = readOptions({ values, names: positionals });
    const say: Say = (name, text) => errors.write(`${name}: ${text}\n`);
    const commit = against === undefined ? undefined : await commitOf(against);
    // The sources as they are now, even if nobody built since.
    await bundleServer();
    if (commit !== undefined) {
      const { tables, succeeded } = await compareAgainst({ effort, chosen }, commit, say);
      print(tables.join("\n"));
      return succeeded ? EXIT_DONE : EXIT_FAILED;
    }
    const runners = await startRunners();
    stopAtExit([...runners.values()]);
    const rows: TableRow[] = [];
    let failed = false;
    for (const name of chosen) {
      const measured: Record<string, Row[]> = {};
      for (const node of nodesOf(name)) {
        say(name, `running with Node ${node} …`);
        try {
          measured[node] = (await runners.get(node)?.run(name, effort)) ?? [];
        } catch (error) {
          // The others of a long run are not lost.
          failed = true;
          say(name, `failed: ${error instanceof Error ? error.message : error}`);
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
