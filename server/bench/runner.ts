import { answerCalls } from "./calls";
import { benchCold } from "./cold";
import { benchFanout } from "./fanout";
import { benchHistory } from "./history-bench";
import { benchImport } from "./import";
import type { Effort } from "./load";
import { benchMemory } from "./memory";
import { benchNext } from "./next";
import type { BenchName } from "./options";
import { benchPush } from "./push";
import { benchRest } from "./rest";
import type { Row } from "./table";
import { benchUnits } from "./units";

/** Runs benches, and what they start, with the Node of this process. */

/** Measures something and returns its rows of the table. */
type Bench = (effort: Effort) => Promise<Row[]>;

const BENCHES: Record<BenchName, Bench> = {
  rest: benchRest,
  push: benchPush,
  fanout: benchFanout,
  next: benchNext,
  cold: benchCold,
  import: benchImport,
  units: benchUnits,
  memory: benchMemory,
  history: benchHistory,
};

answerCalls({ run: ({ name, effort }: { readonly name: BenchName; readonly effort: Effort }) => BENCHES[name](effort) });
// Servers and clients exit with this process, even when it is interrupted.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
