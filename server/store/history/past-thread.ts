import { systemClock } from "#lib/clock";
import type { Folded } from "#lib/domain/fold";
import { Fault } from "#lib/fault";
import { MINUTE_MS } from "#lib/units";
import { createThread } from "#server/threads/thread";
import type { PastOrder } from "./past-worker";

/** Periods that may wait; each takes some 20 ms, and a reader waits for one at a time. */
const WAITING_MAX_COUNT = 64;
const RETRY_AFTER_S = 5;

/** One of the process: it keeps nothing between two orders, and ends a minute after the last one. */
const thread = createThread<PastOrder, Folded>({
  name: "the thread that folds history as of an instant",
  file: new URL("./past-worker.ts", import.meta.url),
  waitingMaxCount: WAITING_MAX_COUNT,
  busy: () =>
    new Fault("service_unavailable", {
      detail: "Too many reads of klines as of an instant are running.",
      retry_after: RETRY_AFTER_S,
    }),
  idle: { clock: systemClock, ms: MINUTE_MS },
});

/** What showed of a period at an instant, folded in a thread: a read can need the layers of twenty years. @throws Fault service_unavailable, SegmentDamaged */
export const foldPast = thread.ask;
