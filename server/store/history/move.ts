import type { Clock } from "#lib/clock";
import { isHistoryDamaged, SegmentStoreAway } from "#lib/storage-errors";
import { SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { forEachSegment, objectName } from "#server/store/segments/object-name";
import { holdWriters, type Queries, requireIntact, type SegmentStore } from "#server/store/segments/segment-store";
import { checkHistory, type DamagedFile, namedFiles } from "./check";
import { isLockRefused, LOCK_MAX_MS } from "./lock";
import { beginMove, type Move, recordMove } from "./place";
import { inTransaction } from "./transaction";

/** How long writers may have to wait while the last files are copied: others, such as an import, give up after ten seconds. */
const LAST_FILES_MAX_MS = 3 * SECOND_MS;
/** How often it is tried to hold the writers: one of them may be in a long transaction each time. */
const ATTEMPTS_COUNT = 100;
const PAUSE_MS = SECOND_MS;
/** Names that one statement reads while writers wait. */
const PAGE_COUNT = 5_000;

/** How a move ended. */
export interface Moved {
  /** Null where the files lay there already. */
  readonly move: Move | null;
  /** Files that were copied or found there, and are right. */
  readonly count: number;
  /** The new place is recorded. */
  readonly isRecorded: boolean;
}

interface MoveOptions {
  readonly target: SegmentStore;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gets each file that is damaged or missing. @returns whether something is lost with it: then no place is recorded */
  found(file: DamagedFile): Promise<boolean>;
  /** Told now and then how many files are right in the new place. */
  copied(count: number): void;
}

/** There is more to copy than writers can wait for. */
class LateError extends Error {}

/** The files of a move that are known to be right in the new place. */
function createCopies(
  { pool, segments }: Database,
  target: SegmentStore,
  { isFresh, to }: Move,
  copied: (count: number) => void,
) {
  const right = new Set<string>();

  async function isRight(id: string): Promise<boolean> {
    try {
      requireIntact(id, (await target.get(pool, [id])).get(id) as Uint8Array);
      return true;
    } catch (error) {
      if (isHistoryDamaged(error)) return false;
      throw error;
    }
  }

  return {
    right,
    /** Copies a file that is not there, and reads it back. @throws SegmentMissing, SegmentDamaged, of the former place; SegmentStoreAway */
    async copy(id: string): Promise<void> {
      if (right.has(id)) return;
      if (isFresh || !(await isRight(id))) {
        const bytes = (await segments.bytes(pool, [id])).get(id) as Uint8Array;
        await target.put(pool, id, bytes);
        if (!(await isRight(id)))
          throw new SegmentStoreAway(`${to} returns other bytes of ${objectName(id)} than were written to it.`);
      }
      right.add(id);
      copied(right.size);
    },
  };
}

interface Copying {
  readonly copies: ReturnType<typeof createCopies>;
  /** Files that cannot be read, and with which nothing that shows is lost. */
  readonly lost: ReadonlySet<string>;
}

/** Copies what no pass before has, while writers wait. @throws LateError; SegmentMissing, SegmentDamaged */
async function copyLast(client: Queries, { copies, lost }: Copying, clock: Clock): Promise<void> {
  const endMs = clock.now() + LAST_FILES_MAX_MS;
  for await (const ids of namedFiles(client, null, PAGE_COUNT))
    await forEachSegment(ids, async (id) => {
      if (clock.now() > endMs) throw new LateError();
      try {
        await copies.copy(id);
      } catch (error) {
        if (!isHistoryDamaged(error) || !lost.has(id)) throw error;
      }
    });
}

/** Copies the last files while nobody writes, and records the place. @returns false where that has to be tried again */
async function finish({ pool }: Database, move: Move, copying: Copying, { target, clock }: MoveOptions): Promise<boolean> {
  try {
    await inTransaction(pool, async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_MAX_MS}`);
      await holdWriters(client);
      await copyLast(client, copying, clock);
      await recordMove(client, target, move);
    });
    return true;
  } catch (error) {
    // The next pass reports a damaged file.
    if (error instanceof LateError || isLockRefused(error) || isHistoryDamaged(error)) return false;
    throw error;
  }
}

/**
 * Copies all files of history to another place while the service runs, reads each one back and compares its hash, and then records the
 * new place. Files that are stored in the meantime are copied in further passes; during the last pass, writers wait. Files in the former
 * place are not changed. It can be stopped at any moment, and continues where it stopped when it is run again.
 *
 * From the moment of the record, a process that has the former place stores no file (`Segments.settle`), and reads those that it has.
 * @throws Error where the target is of others, or writers did not pause in time, with what to do; SegmentStoreAway; pg's error; the
 *   reason of the signal
 */
export async function moveHistory(db: Database, options: MoveOptions): Promise<Moved> {
  const { target, clock, signal, found, copied } = options;
  const move = await beginMove(db, target);
  if (move === null) return { move, count: 0, isRecorded: true };
  const copies = createCopies(db, target, move, copied);
  const lost = new Set<string>();
  let isWhole = true;
  const onDamage = async (file: DamagedFile) => {
    if (lost.has(file.id)) return;
    if (await found(file)) isWhole = false;
    // One that was made again is copied while writers wait.
    if (!file.mended) lost.add(file.id);
  };
  for (let attempt = 0; attempt < ATTEMPTS_COUNT; attempt += 1) {
    if (attempt > 0) await clock.wait(PAUSE_MS, signal);
    await checkHistory(db, null, signal, onDamage, copies.copy);
    signal.throwIfAborted();
    if (!isWhole) return { move, count: copies.right.size, isRecorded: false };
    if (await finish(db, move, { copies, lost }, options)) return { move, count: copies.right.size, isRecorded: true };
  }
  throw new Error("Other commands, such as an import, keep storing history. Run the same command again when they have ended.");
}
