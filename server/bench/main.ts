import { availableParallelism } from "node:os";
import { bundleServer } from "#server/cli/bundle";
import { defineCommand, runAsProcess } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED } from "#server/cli/usage-error";
import { againstText, buildAt, commitOf } from "./against";
import { readTable, worseThan, writeTable } from "./committed";
import { nodesOf, type Runner, startNewest, startRunners } from "./nodes";
import { OPTIONS, readOptions, USAGE } from "./options";
import { joined, type Row, type TableRow, tableText } from "./table";

type Named = (name: string, text: string) => void;

/** Measures benches in this checkout and at another commit, in turn. */
async function compareAgainst(
  { effort, chosen }: Pick<ReturnType<typeof readOptions>, "effort" | "chosen">,
  commit: string,
  say: Named,
): Promise<boolean> {
  say(commit, "is checked out and built, unless it was before …");
  const built = await buildAt(commit);
  const [own, other] = [await startNewest(), await startNewest(built.folder)];
  stopAtExit([own, other]);
  let succeeded = true;
  for (const name of chosen) {
    const runs: { here: Row[][]; there: Row[][] } = { here: [], there: [] };
    try {
      for (let round = 0; round < effort.rounds; round += 1) {
        say(name, `round ${round + 1} of ${effort.rounds} …`);
        const turn = [() => own.run(name, { ...effort, rounds: 1 }).then((rows) => runs.here.push(rows))];
        turn.push(() => other.run(name, { ...effort, rounds: 1 }).then((rows) => runs.there.push(rows)));
        // Who is first changes, so that a busier machine favours none.
        for (const measure of round % 2 === 0 ? turn : turn.reverse()) await measure();
      }
      process.stdout.write(againstText(runs, built.commit));
    } catch (error) {
      succeeded = false;
      say(name, `failed: ${error instanceof Error ? error.message : error}. Does ${built.commit} have this bench?`);
    }
  }
  return succeeded;
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
    const say: Named = (name, text) => errors.write(`${name}: ${text}\n`);
    const commit = against === undefined ? undefined : await commitOf(against);
    // The sources as they are now, even if nobody built since.
    await bundleServer();
    if (commit !== undefined) return (await compareAgainst({ effort, chosen }, commit, say)) ? EXIT_DONE : EXIT_FAILED;
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
