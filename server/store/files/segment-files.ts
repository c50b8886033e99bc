import { LRUCache } from "lru-cache";
import type { FileType } from "#lib/contract/files";
import type { Listing } from "#lib/domain/instrument";
import { Fault } from "#lib/fault";
import type { OpenFile } from "#lib/market/file-source";
import { createQueue } from "#lib/queue";
import type { Database } from "#server/store/database/db";
import { csvFileOf } from "./csv-file";
import type { FileThread } from "./file-thread";
import type { Made, MadeFiles } from "./made-files";

/** Segments whose size is known, and those whose bytes were found intact. */
const KNOWN_MAX_COUNT = 20_000;
/** Whole segments that are read at once, to check them. */
const CHECKED_AT_ONCE_COUNT = 2;
const WAITING_MAX_COUNT = 64;
const BUSY_RETRY_AFTER_S = 2;

/** What the files of the live venue are made from. */
export interface SegmentFilesOptions {
  readonly db: Pick<Database, "pool" | "segments">;
  readonly made: MadeFiles;
  readonly thread: FileThread;
}

/** Files of one type of rows: stored segments as they are, and those that are made. */
interface SegmentFiles {
  sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** A segment as a file. @throws SegmentMissing, SegmentDamaged; Fault service_unavailable when too many are being read */
  open(listing: Listing, content: string, rows: number): Promise<OpenFile>;
  /** A file that is made unless it is kept. @throws as MadeFiles.find */
  make(listing: Listing, key: string, make: () => Promise<Made>): Promise<OpenFile>;
}

export function createSegmentFiles(type: FileType, { db: { pool, segments }, made, thread }: SegmentFilesOptions): SegmentFiles {
  const { store } = segments;
  const sizes = new LRUCache<string, number>({ max: KNOWN_MAX_COUNT });
  const intact = new LRUCache<string, true>({ max: KNOWN_MAX_COUNT });
  const queued = createQueue({
    runningMaxCount: CHECKED_AT_ONCE_COUNT,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () =>
      new Fault("service_unavailable", { detail: "Too many files are being read.", retry_after: BUSY_RETRY_AFTER_S }),
  });

  async function sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const unknown = ids.filter((id) => !sizes.has(id));
    const found = unknown.length === 0 ? new Map<string, number>() : await store.sizes(pool, unknown);
    for (const [id, size] of found) sizes.set(id, size);
    return new Map(ids.map((id) => [id, found.get(id) ?? sizes.get(id) ?? 0]));
  }

  async function wholeOf(content: string): Promise<Uint8Array> {
    const bytes = (await segments.bytes(pool, [content])).get(content) as Uint8Array;
    intact.set(content, true);
    sizes.set(content, bytes.length);
    return bytes;
  }

  const csv = csvFileOf(type, made, thread);

  return {
    sizesOf,
    async open(listing, content, rows) {
      // A part is not checked by itself: before the first one is sent, the whole has to be right.
      if (!intact.has(content)) await queued(() => wholeOf(content));
      const size = (await sizesOf([content])).get(content) ?? 0;
      return {
        rows,
        sha256: content,
        parquet: { size, read: (from, to) => store.range(pool, content, from, to) },
        csv: () => csv(listing, content, () => wholeOf(content)),
      };
    },
    async make(listing, key, make) {
      const file = await made.find(key, make);
      const { rows, sha256, size } = file;
      return { rows, sha256, parquet: file, csv: () => csv(listing, sha256, () => file.read(0, size)) };
    },
  };
}
