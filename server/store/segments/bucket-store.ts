import { placeUrl } from "#lib/env-history";
import { SegmentMissing } from "#lib/storage-errors";
import { type BucketOptions, openBucket } from "./bucket";
import { forEachSegment, objectName, segmentOf } from "./object-name";
import { MARK_NAME, markBytes, markIn, type SegmentStore } from "./segment-store";

/** The longest that one request may take, with its body. */
const REQUEST_MAX_MS = 10_000;

interface Options extends Pick<BucketOptions, "place" | "credentials" | "clock"> {
  readonly requestMaxMs?: number;
}

/** Segments as objects of an S3-compatible bucket. They stay when a transaction is rolled back. */
export function createBucketStore({ requestMaxMs = REQUEST_MAX_MS, ...options }: Options): SegmentStore {
  const { ask, page } = openBucket({ ...options, requestMaxMs, what: "stored klines" });
  const missing = (id: string) => new SegmentMissing(`segment ${id} is not in the bucket ${options.place.bucket}`);

  /** The object of a segment. @throws SegmentMissing */
  async function read(id: string, asked: Omit<Parameters<typeof ask>[0], "name">, ...statuses: number[]) {
    const answer = await ask({ ...asked, name: objectName(id) }, ...statuses);
    if (answer.status === 404) throw missing(id);
    return answer;
  }

  return {
    marked: {
      url: placeUrl(options.place),
      async readMark() {
        const { status, bytes } = await ask({ method: "GET", name: MARK_NAME }, 200);
        return status === 404 ? null : markIn(bytes);
      },
      async writeMark(mark) {
        await ask({ method: "PUT", name: MARK_NAME, body: markBytes(mark) }, 200);
      },
    },
    async put(_client, id, bytes) {
      // The name is the hash that the signature is to cover, so that the server refuses bytes that changed on their way.
      const headers = { "x-amz-content-sha256": id, "content-type": "application/vnd.apache.parquet" };
      await ask({ method: "PUT", name: objectName(id), headers, body: bytes as Uint8Array<ArrayBuffer> }, 200);
    },
    async get(_client, ids) {
      const contents = new Map<string, Uint8Array>();
      await forEachSegment(ids, async (id) => {
        contents.set(id, (await read(id, { method: "GET" }, 200)).bytes);
      });
      return contents;
    },
    async sizes(_client, ids) {
      const sizes = new Map<string, number>();
      await forEachSegment(ids, async (id) => {
        const { headers } = await read(id, { method: "HEAD" }, 200);
        sizes.set(id, Number(headers.get("content-length")));
      });
      return sizes;
    },
    async range(_client, id, from, to) {
      if (to <= from) {
        await read(id, { method: "HEAD" }, 200);
        return new Uint8Array(0);
      }
      const { status, bytes } = await read(id, { method: "GET", headers: { range: `bytes=${from}-${to - 1}` } }, 200, 206, 416);
      // From the end on there is nothing. A server may send more than it was asked for, even the whole.
      if (status === 416) return new Uint8Array(0);
      return (status === 200 ? bytes.subarray(from) : bytes).subarray(0, to - from);
    },
    async list(_client, { beforeMs, after, limit }) {
      const listed: string[] = [];
      for (let last: string | null = after === "" ? "" : objectName(after); last !== null; ) {
        const { objects, last: next }: Awaited<ReturnType<typeof page>> = await page(last);
        for (const { name, writtenMs } of objects) {
          const id = segmentOf(name);
          if (id === undefined || name !== objectName(id) || writtenMs >= beforeMs) continue;
          if (listed.push(id) === limit) return listed;
        }
        last = next;
      }
      return listed;
    },
    async drop(_client, ids, beforeMs) {
      await forEachSegment(ids, async (id) => {
        const name = objectName(id);
        const { status, headers } = await ask({ method: "HEAD", name }, 200);
        const writtenMs = Date.parse(headers.get("last-modified") ?? "");
        if (status !== 404 && writtenMs < beforeMs) await ask({ method: "DELETE", name }, 200, 204);
      });
    },
  };
}
