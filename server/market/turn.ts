import type { Clock } from "#lib/clock";
import type { Journal, JournalFolder } from "#server/engine/journal";
import type { ReplayOptions } from "#server/engine/journal-replay";
import { beginWriting, type Writing } from "#server/engine/writing";
import type { Appender } from "#server/event-log/event-log";
import type { KlineTable } from "#server/store/klines/kline-store";

/** What a turn writes with, and what it keeps pushed ticks for. */
export interface WritingOptions extends ReplayOptions {
  readonly writer: Pick<KlineTable, "beginWriter">;
  readonly appender: Pick<Appender, "appended">;
}

/** The time in which this process leads a venue. */
export interface Turn {
  /** Higher than that of every turn before: stores take nothing for a lower one. Null where no other process may lead. */
  readonly token: number | null;
  /** Start of the current series of turns without a pause between them, Unix ms. */
  readonly originMs: number;
  /** Aborts when it ends. */
  readonly over: AbortSignal;
  /** Ends it at once: a store reported that another process leads. */
  giveUp(): void;
  /** Begins to write. @throws Error when another process leads */
  beginWriting(options: WritingOptions): Promise<Writing>;
}

/** Decides when this process leads a venue. */
export interface Leadership {
  /**
   * Calls `lead` for each turn, one after the other; it returns when the turn is over.
   * @returns resolves once the signal has aborted and the last turn has ended
   */
  compete(signal: AbortSignal, lead: (turn: Turn) => Promise<void>): Promise<void>;
  /** Longest wait of a start for the newest records, ms; without it a start waits as long as it takes. */
  readonly startMaxMs?: number;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** This process leads from its start to its end. @param openJournals opens the folder in which ticks are kept until they are stored */
export function leadAlone({ now }: Pick<Clock, "now">, openJournals?: () => Promise<JournalFolder>): Leadership {
  return {
    async compete(over, lead) {
      const journals = await openJournals?.();
      let journal: Journal | undefined;
      await lead({
        token: null,
        originMs: now(),
        over,
        giveUp: () => undefined,
        async beginWriting(options) {
          const writing = await beginWriting({ ...options, journals });
          journal = writing.journal;
          return writing;
        },
      });
      await journal?.close();
      await journals?.release();
    },
  };
}

/** Another process of this machine leads. */
export const NEVER_LEAD: Leadership = { compete: aborted };
