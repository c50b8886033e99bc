import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import { withTimeout } from "#lib/with-timeout";
import type { KlineTable } from "#server/store/klines/kline-store";
import type { Keep } from "./intake";
import type { Journal, JournalFolder } from "./journal";
import { type ReplayOptions, replayJournals } from "./journal-replay";
import type { KlineWriter } from "./recorder";

/** The longest wait for the journal. */
const JOURNAL_MAX_MS = 5_000;
const RETRY_AFTER_S = 5;

interface WritingOptions extends ReplayOptions {
  readonly writer: Pick<KlineTable, "beginWriter">;
  /** Absent where ticks are not journaled. */
  readonly journals?: JournalFolder | undefined;
}

/** Keeps the ticks of a venue. */
export interface Writing {
  readonly writer: KlineWriter;
  /** Absent where ticks are not journaled. */
  readonly journal?: Journal | undefined;
  /** The last ticks that an earlier process took, by ticker, if it did not end in an orderly way: they may be sent again. */
  readonly recent?: ReadonlyMap<string, readonly Tick[]> | undefined;
  readonly keep: Keep;
}

function notKept(detail: string): Fault {
  return new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
}

/**
 * Begins to write a venue that this process runs alone: first stores what earlier processes left in their journals. Pushes are
 * accepted when the journal has them or, where it cannot be written, when they are stored.
 * @throws JournalError when a journal cannot be read
 */
export async function beginWriting(options: WritingOptions): Promise<Writing> {
  const { journals, clock } = options;
  const writer = await options.writer.beginWriter(null, journals?.newest ?? 0);
  if (writer === null) throw new Error("Another process holds the lease of this venue.");
  const recent = journals && (await replayJournals(options, journals, writer));
  const journal = await journals?.begin(writer.number);
  let displaced = false;

  function requireKeeping(): void {
    if (displaced) throw notKept("Another process has begun to store the data of this venue.");
    if (journal?.isFull()) throw notKept("The database has fallen behind, and the journal of ticks is full.");
  }

  return {
    writer: {
      async writeBatch(minutes, quotes, ticks, waiting) {
        const added = journal?.added() ?? 0;
        const place = (ticks: number) => ({ journal: writer.number, ticks });
        const kept = journal ? added - waiting : 0;
        displaced = !(await writer.write(minutes, quotes, ticks, { stored: place(added), kept: place(kept) }));
        if (displaced) throw new Error("another process has begun to store the data of this venue; nothing was written");
        await journal?.stored(kept);
      },
    },
    journal,
    recent,
    keep() {
      requireKeeping();
      const from = journal?.added() ?? 0;
      return async (stored) => {
        if (journal === undefined) return;
        const written = journal.written(from);
        const isJournaled =
          typeof written === "boolean" ? written : await withTimeout(written, JOURNAL_MAX_MS, clock).catch(() => false);
        if (isJournaled || (await stored())) return;
        throw notKept("Ticks can be neither journaled nor stored right now. Send them again.");
      };
    },
  };
}
