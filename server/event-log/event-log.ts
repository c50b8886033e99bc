import type { MarketEvent } from "#server/events/event";
import type { Cursor } from "./cursor";
import type { Standing } from "./wire";

/** A process that appends to a log. */
export interface Leading {
  /** Higher than that of every leader before it; a log takes nothing from a leader with a lower one. */
  readonly token: number;
  /** Aborts when it is no longer to lead. */
  readonly over: AbortSignal;
  /** Read often, also while there are no events, so that followers know it. */
  standing(): Standing;
  /** The newest records with the last sequence of their topics, for a follower that begins. */
  newest(): readonly MarketEvent[];
  /** Called once when a leader with a higher token has appended: the log takes nothing more from this one. */
  onFenced(): void;
}

/** The way of a leader into a log. */
export interface Appender {
  /** What the leader before said last, if that is recent enough to continue from. */
  readonly before: Standing | undefined;
  /** True when the cursor that follows this log had all of `before` when this leader began. */
  readonly caughtUp: boolean;
  /** Lets followers have what was appended; call it when the restored state is complete. */
  begin(): void;
  /** Adds events in order, without waiting. @param reachedMs klines are closed up to here, Unix ms */
  append(events: readonly MarketEvent[], reachedMs: number): void;
  /** True once the next leader would know every event appended before the call; false when that cannot be determined now. */
  appended(): Promise<boolean>;
  /** Hands over what waits as far as that is possible in time, and ends. */
  stop(): Promise<void>;
}

/** The way of events out of a log. */
export interface Follower {
  /** Resolves when the cursor has the newest records; if there are none, with the first events. */
  readonly begun: Promise<void>;
  /** Resolves with the reason when it has ended by itself. */
  readonly ended: Promise<string>;
  /** What the leader said last; undefined before the first. */
  standing(): Standing | undefined;
  /** What is wrong with the way of the events; null while they arrive. */
  problem(): string | null;
  /** Resolves when it has ended; its cursor stays, and another follower continues from it. */
  stop(): Promise<void>;
}

/**
 * The events of a venue, from the process that leads it to all that follow.
 *
 * An adapter keeps the order for every follower, delivers each event to each follower once, and never delays the leader because of
 * a follower. What it has to leave out for a follower that was away, it counts in `merged` of the next record of that topic; what
 * it cannot count shows as a gap of the sequence. What it holds for followers is bounded.
 */
export interface EventLog {
  /** True where all followers are in the process of the leader, and have the events when `append` returns. */
  readonly inProcess: boolean;
  /** Begins to append. @throws TokenUsed */
  lead(leading: Leading): Promise<Appender>;
  /** Follows from a cursor on; one that is empty is filled with the newest records first. */
  follow(cursor: Cursor): Follower;
}

/** The log has taken events from a leader with a token that is not lower: a database was restored to an earlier state. */
export class TokenUsed extends Error {
  override readonly name = "TokenUsed";
  /** The highest token so far. */
  readonly highest: number;

  constructor(highest: number) {
    super(`the database was restored to an earlier state; lease tokens continue from ${highest}`);
    this.highest = highest;
  }
}
