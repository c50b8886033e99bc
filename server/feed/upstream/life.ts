import type { Clock } from "#lib/clock";
import type { FeedLife } from "../feed";
import type { Step, Upstream } from "./port";

/** What a connection shows of its life. */
export interface Life {
  step(step: Step): void;
  /** A batch is being taken, or was. */
  take(now: boolean): void;
  alive(): void;
  lost(): void;
}

/**
 * Says that a connection lives once everything that came before is taken: each message says so of the one before it. Only while
 * prices come, because before that ticks are missed.
 */
export function createLife({ declares }: Pick<Upstream, "declares">, clock: Clock, heard: FeedLife | undefined): Life {
  let live = false;
  let taking = false;
  let beforeMs: number | undefined;
  return {
    step(step) {
      live = step === "live";
    },
    take(now) {
      taking = now;
    },
    alive() {
      if (!live || taking) return;
      if (beforeMs !== undefined) heard?.alive(beforeMs, declares.idleMs);
      beforeMs = clock.now();
    },
    lost: () => heard?.lost(),
  };
}
