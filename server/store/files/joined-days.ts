import { FEED_LAYER } from "#lib/domain/fold";
import { isHistoryDamaged } from "#lib/storage-errors";
import type { Database } from "#server/store/database/db";
import { digitsOf } from "#server/store/history/layers";
import { lockTicker } from "#server/store/history/lock";
import { type LayerDay, replaceDay, scatteredDays, segmentsOfDay } from "#server/store/history/tick-days";
import { inTransaction } from "#server/store/history/transaction";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import type { FileThread } from "./file-thread";

/** Ticks of a day that are joined: the thread takes some 190 bytes of memory for each. No day of a currency or a metal has as many. */
const JOINED_MAX_ROWS = 1_500_000;

/** Writes the segments of a day as one. @returns false while another command changes the history of its ticker */
async function joinDay(
  client: Queries,
  segments: Segments,
  place: LayerDay,
  thread: Pick<FileThread, "ticks">,
): Promise<boolean> {
  const { ticker, day } = place;
  if (!(await lockTicker(client, ticker, "transaction"))) return false;
  const parts = await segmentsOfDay(client, place);
  const contents = await segments.bytes(
    client,
    parts.map(({ content }) => content),
  );
  const chunkless = { kind: "taken", layer: FEED_LAYER, source: "", ticks: new Uint8Array(), outcomes: null } as const;
  const stored = { day, contents, parts: parts.map(({ content, rows }) => ({ ...chunkless, content, rows })) };
  const { rows, bytes } = await thread.ticks(stored, { venue: "live", ticker }, await digitsOf(client, ticker));
  const [first, last] = [parts.map((part) => part.first), parts.map((part) => part.last)];
  const content = await segments.put(client, bytes);
  const span = { first: Math.min(...first), last: Math.max(...last) };
  await replaceDay(client, place, { part: 0, content, rows, ...span }, bytes.length);
  return true;
}

/**
 * Joins the segments of each day that ended before an instant: then the day is one segment, and its file is listed with its hash and kept by
 * clients like any other. One day after the other, each in a transaction, until it is to stop; a ticker whose history is being changed is
 * left for later, and a day whose segments cannot be read does not keep the others.
 * @param before a UTC day, Unix seconds
 * @returns how many days were joined
 * @throws as FileThread.ticks; in the end SegmentMissing, SegmentDamaged of the first such day
 */
export async function joinDays(
  { pool, segments }: Pick<Database, "pool" | "segments">,
  thread: Pick<FileThread, "ticks">,
  before: number,
  signal?: AbortSignal,
): Promise<number> {
  let joined = 0;
  let unread: unknown;
  for (const place of await scatteredDays(pool, before, JOINED_MAX_ROWS)) {
    if (signal?.aborted) break;
    try {
      joined += Number(await inTransaction(pool, (client) => joinDay(client, segments, place, thread)));
    } catch (error) {
      if (!isHistoryDamaged(error)) throw error;
      unread ??= error;
    }
  }
  if (unread !== undefined) throw unread;
  return joined;
}
