import { createHash } from "node:crypto";
import type { Clock } from "#lib/clock";
import type { FileSource, ListedFile } from "#lib/market/file-source";
import { DAY_S, MINUTE_MS, SECOND_MS } from "#lib/units";
import { untilFound } from "#server/store/history/minutes";
import { type DayPart, partsOfDay, tickDays } from "#server/store/history/ticks";
import { createSegmentFiles, type SegmentFilesOptions } from "./segment-files";

/** The ticks of the last seconds of a day are stored a little after it. */
const STORED_AFTER_MS = MINUTE_MS;

interface Options extends SegmentFilesOptions {
  readonly clock: Pick<Clock, "now">;
}

/** Differs whenever the ticks of the parts do. */
function stateOf(parts: readonly DayPart[]): string {
  const hash = createHash("sha256");
  for (const { layer, content, source, ticks, outcomes } of parts) {
    hash.update(JSON.stringify([layer, content, source, outcomes]));
    if (content === null) hash.update(ticks);
  }
  return hash.digest("hex");
}

/**
 * The files of the ticks of the live venue that were taken. A day that is one segment is that segment; another one, of several layers
 * or whose segments are not joined yet, is made when it is opened.
 */
export function createTickFiles({ clock, ...options }: Options): FileSource {
  const { db, thread } = options;
  const { pool, segments } = db;
  const files = createSegmentFiles("ticks", options);
  const isOver = (day: number) => clock.now() >= (day + DAY_S) * SECOND_MS + STORED_AFTER_MS;

  const bytesOf = (parts: readonly DayPart[]) =>
    segments.bytes(pool, [...new Set(parts.flatMap(({ content }) => content ?? []))]);

  return {
    rowsName: "ticks",
    period: "day",
    async list({ ticker }, range) {
      const days = await tickDays(pool, ticker, range);
      return days.map(({ day, segments: count, content, rows, bytes, open }): ListedFile => {
        const complete = !open && isOver(day);
        const made = complete && count === 1 && content !== null ? { rows, bytes, sha256: content } : null;
        return { from: day, to: day + DAY_S, complete, made };
      });
    },
    open: (listing, { start: day, revision }) =>
      untilFound(async () => {
        const { ticker, digits } = listing;
        const parts = await partsOfDay(pool, ticker, day, ["taken"]);
        const [{ content = null, rows = 0 } = {}, ...others] = parts;
        if (content !== null && others.length === 0 && (isOver(day) || revision === undefined))
          return content.startsWith(revision ?? "") ? files.open(listing, content, rows) : undefined;
        if (revision !== undefined || parts.length === 0) return undefined;
        const key = createHash("sha256")
          .update(`${ticker} ${day} ${digits} ${stateOf(parts)}`)
          .digest("hex");
        const file = await files.make(listing, `ticks-${key}`, async () =>
          thread.ticks({ parts, contents: await bytesOf(parts), day }, { venue: "live", ticker }, digits),
        );
        return file.rows === 0 ? undefined : file;
      }),
  };
}
