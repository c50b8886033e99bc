import { UsageError } from "#server/cli/usage-error";
import type { Effort } from "./load";

/** The benches of the table. */
const TABLE = ["rest", "push", "fanout", "next", "cold", "import"] as const;
/** Compare the service with itself, and are no part of the table. */
const BESIDE = ["units", "memory", "history"] as const;
const BENCHES = [...TABLE, ...BESIDE];
export type BenchName = (typeof BENCHES)[number];

/** Processor time before a measurement. */
const WARM_UP_CPU_S = 1;
const SECONDS_MAX = 600;
const ROUNDS_MAX_COUNT = 7;

export const OPTIONS = {
  seconds: { type: "string", default: "0.4" },
  rounds: { type: "string", default: "3" },
  write: { type: "string" },
  against: { type: "string" },
} as const;

/** What --help prints. */
export const USAGE = `npm run bench -- [NAME…] [--seconds 0.4] [--rounds 3] [--write "shared machine"] [--against REF]

Runs the named benches, or those of the table: ${TABLE.join(", ")}. Calls, pushes and the stream run with Node 20 and 26, the others with 26.
Only when named: ${BESIDE.join(", ")}.
  --seconds 0.4    duration of one measurement
  --rounds 3       measurements of each contestant; the table shows the median and the middle half of the ratios
  --write MACHINE  writes the whole table, with these words about the machine, to server/bench/table.json and the documents that show it
  --against REF    builds this commit in a folder of its own and measures both in turn, each with its own benches, with Node 26`;

interface Given {
  readonly values: {
    readonly seconds: string;
    readonly rounds: string;
    readonly write?: string | undefined;
    readonly against?: string | undefined;
  };
  readonly names: readonly string[];
}

/** What to run and how. @throws UsageError that names the wrong argument */
export function readOptions({ values: { seconds, rounds, write, against }, names }: Given) {
  const chosen = (names.length > 0 ? names : TABLE).map((name) => {
    const bench = BENCHES.find((one) => one === name);
    if (bench === undefined) throw new UsageError(`Unknown bench "${name}": use one of ${BENCHES.join(", ")}.`);
    return bench;
  });
  if (!(Number(seconds) > 0 && Number(seconds) <= SECONDS_MAX))
    throw new UsageError(`--seconds ${seconds}: must be a number above 0, at most ${SECONDS_MAX}.`);
  if (!/^[1-9]\d*$/.test(rounds) || Number(rounds) > ROUNDS_MAX_COUNT)
    throw new UsageError(`--rounds ${rounds}: must be a whole number from 1 to ${ROUNDS_MAX_COUNT}.`);
  if (write !== undefined && names.length > 0)
    throw new UsageError("--write: the table is written from one whole run; name no benches.");
  if (write === "") throw new UsageError('--write: say what machine it was, for example "shared machine".');
  if (write !== undefined && against !== undefined)
    throw new UsageError("--write: the table has no place for another commit; leave out --against.");
  const effort: Effort = { seconds: Number(seconds), rounds: Number(rounds), warmUpCpuS: WARM_UP_CPU_S };
  return { effort, chosen, write, against };
}
