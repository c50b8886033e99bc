import { UsageError } from "#server/cli/usage-error";
import type { Effort } from "./load";
import type { Row } from "./table";

/** Measures something and returns its rows of the table. */
export type Bench = (effort: Effort) => Promise<Row[]>;
type Benches = Readonly<Record<string, Bench>>;

/** Processor time before a measurement. */
const WARM_UP_CPU_S = 3;
const SECONDS_MAX = 600;
const ROUNDS_MAX_COUNT = 999;

export const OPTIONS = {
  seconds: { type: "string", default: "2" },
  rounds: { type: "string", default: "7" },
  write: { type: "string" },
} as const;

/** What --help prints. */
export const usageOf = (
  benches: Benches,
  others: Benches,
) => `npm run bench -- [NAME…] [--seconds 2] [--rounds 7] [--write "shared machine"]

Runs the named benches, or those of the table: ${Object.keys(benches).join(", ")}.
Only when named: ${Object.keys(others).join(", ")}.
  --seconds 2      duration of one measurement
  --rounds 7       measurements of each contestant; the table shows the median and the middle half
  --write MACHINE  writes the whole table, with these words about the machine, to server/bench/table.json and README.md`;

interface Given {
  readonly values: { readonly seconds: string; readonly rounds: string; readonly write?: string | undefined };
  readonly names: readonly string[];
  readonly benches: Benches;
  readonly others: Benches;
}

/** What to run and how. @throws UsageError that names the wrong argument */
export function readOptions({ values: { seconds, rounds, write }, names, benches, others }: Given) {
  const known = new Map(Object.entries({ ...benches, ...others }));
  const chosen = (names.length > 0 ? names : Object.keys(benches)).map((name): [string, Bench] => {
    const bench = known.get(name);
    if (bench === undefined) throw new UsageError(`Unknown bench "${name}": use one of ${[...known.keys()].join(", ")}.`);
    return [name, bench];
  });
  if (!(Number(seconds) > 0 && Number(seconds) <= SECONDS_MAX))
    throw new UsageError(`--seconds ${seconds}: must be a number above 0, at most ${SECONDS_MAX}.`);
  if (!/^[1-9]\d*$/.test(rounds) || Number(rounds) > ROUNDS_MAX_COUNT)
    throw new UsageError(`--rounds ${rounds}: must be a whole number from 1 to ${ROUNDS_MAX_COUNT}.`);
  if (write !== undefined && names.length > 0)
    throw new UsageError("--write: the table is written from one whole run; name no benches.");
  if (write === "") throw new UsageError('--write: say what machine it was, for example "shared machine".');
  const effort: Effort = { seconds: Number(seconds), rounds: Number(rounds), warmUpCpuS: WARM_UP_CPU_S };
  return { effort, chosen, write };
}
