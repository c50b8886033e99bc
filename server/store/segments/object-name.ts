import { SegmentMissing } from "#lib/storage-errors";

/** How many segments are read, or deleted, at once. */
const AT_ONCE_COUNT = 8;
const NAME = /(?:^|\/)(?<folder>[0-9a-f]{2})\/(?<id>[0-9a-f]{64})\.parquet$/;

/**
 * The path of a segment in a directory or a bucket, as ab/ab12….parquet: the same in both, so that one can be copied to the other. The
 * first two digits keep a directory small.
 * @throws SegmentMissing for what is not the name of a segment
 */
export function objectName(id: string): string {
  if (!/^[0-9a-f]{64}$/.test(id)) throw new SegmentMissing(`${JSON.stringify(id)} is not the name of a segment`);
  return `${id.slice(0, 2)}/${id}.parquet`;
}

/** The segment of a path; undefined where it is none. */
export function segmentOf(path: string): string | undefined {
  const { folder, id } = NAME.exec(path)?.groups ?? {};
  return id !== undefined && folder !== undefined && id.startsWith(folder) ? id : undefined;
}

/** Does something for each segment, for several at once. After a failure no further ones are begun. @throws what the work throws */
export async function forEachSegment(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const left = [...new Set(ids)];
  async function some(): Promise<void> {
    for (let id = left.pop(); id !== undefined; id = left.pop())
      try {
        await work(id);
      } catch (error) {
        left.length = 0;
        throw error;
      }
  }
  await Promise.all(Array.from({ length: AT_ONCE_COUNT }, some));
}
