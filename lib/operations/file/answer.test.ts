import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PARQUET_MEDIA } from "#lib/contract/files";
import { FILES_MAX_COUNT, KLINES_AS_OF_SETTLE_S } from "#lib/contract/limits";
import { openBareExchange } from "#lib/http/exchange";
import { rangeOf, unitsOf } from "#lib/http/file";
import { isInParts } from "#lib/http/respond";
import type { FileSource, OpenFile } from "#lib/market/file-source";
import { files } from "#lib/operations/files/declaration";
import { createMemoryFiles } from "#lib/testing/memory-files";
import { makeLink } from "#server/testing/links";
import { type Ask, failed, TEST_SECRET, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { handler } from "./answer";

let t: TestRuntime;
/** The bytes of createMemoryFiles, which stand for 250,000 rows. */
const BYTES = "0123456789".repeat(20_000);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const ID = `klines-EURUSD-2026-10-${SHA256.slice(0, 16)}`;

beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const ask = (id = ID, more: Ask = {}) => t.ask(`${files.path}/${id}`, more);
const range = (text: string, more: Record<string, string> = {}) => ask(ID, { headers: { range: text, ...more } });

describe("the list", () => {
  test("names each file with its place, its size and its hash", async () => {
    const { body } = await t.ask(`${files.path}?ticker=EURUSD&type=klines`);
    expect(files.data.parse(body.data)).toEqual({
      next_from: null,
      items: [
        {
          id: ID,
          type: "klines",
          ticker: "EURUSD",
          from: Date.UTC(2026, 9, 1) / 1000,
          to: Date.UTC(2026, 10, 1) / 1000,
          complete: true,
          rows: 250_000,
          bytes: 200_000,
          sha256: SHA256,
          revision: SHA256.slice(0, 16),
          url: `${files.path}/${ID}`,
        },
      ],
    });
  });

  test("has at most 500 files, and says where the next list begins", async () => {
    const source = createMemoryFiles();
    const many: FileSource = {
      ...source,
      list: async (_listing, { from, limit }) =>
        Array.from({ length: limit }, (_, index) => ({
          from: from + index * 86_400,
          to: from + (index + 1) * 86_400,
          complete: false,
          made: null,
        })),
    };
    const before = t.markets.live.files;
    Object.assign(t.markets.live, { files: { klines: many } });
    const { body } = await t.ask(`${files.path}?ticker=EURUSD&type=klines&from=86400`);
    Object.assign(t.markets.live, { files: before });
    expect(body.data.items).toHaveLength(FILES_MAX_COUNT);
    expect(body.data.next_from).toBe(86_400 * (FILES_MAX_COUNT + 1));
    expect(body.data.items[0]).toMatchObject({ complete: false, rows: null, bytes: null, sha256: null, revision: null });
  });

  test("knows the types klines and ticks alone, and no ticker that its caller may not read", async () => {
    const refused = await t.ask(`${files.path}?ticker=EURUSD&type=quotes`);
    expect(refused).toMatchObject(failed("invalid_parameter", { parameter: "type", allowed: ["klines", "ticks"] }));
    const { text: key } = await t.issueKey({ permissions: { kind: "tickers", values: ["XAUUSD"] } });
    expect(await t.ask(`${files.path}?ticker=EURUSD&type=klines`, { key })).toMatchObject(failed("unknown_ticker"));
    expect(await ask(ID, { key })).toMatchObject(failed("unknown_file"));
    expect((await ask(ID.replace("EURUSD", "XAUUSD"), { key })).status).toBe(200);
  });
});

describe("a view of a list", () => {
  const list = (query: string, more: Ask = {}) => t.ask(`${files.path}?ticker=EURUSD&${query}`, more);

  test("is in the ids of its files, and echoed", async () => {
    const now = Math.floor(t.clock.now() / 1000);
    for (const [query, suffix, echo] of [
      ["&price=ask", "-ask", { price: "ask" }],
      [`&as_of=${now}`, `-at${now}`, { as_of: now }],
      [`&price=mid&as_of=${now - 9}`, `-mid-at${now - 9}`, { price: "mid", as_of: now - 9 }],
      ["&price=bid", "", { price: "bid" }],
    ] as const) {
      const { body } = await list(`type=klines${query}`);
      expect(files.data.parse(body.data)).toMatchObject(echo);
      expect(body.data.items[0].id.replace(`-${SHA256.slice(0, 16)}`, "")).toBe(`klines-EURUSD-2026-10${suffix}`);
    }
    expect((await list("type=klines")).body.data).not.toHaveProperty("price");
  });

  test("as of an instant is kept for good once nothing that was stored then can still come, and its files too", async () => {
    const now = Math.floor(t.clock.now() / 1000);
    const lasting = "private, max-age=31536000, immutable";
    for (const [asOf, kept] of [
      [now - KLINES_AS_OF_SETTLE_S - 5, lasting],
      [now - 5, "private, no-cache"],
    ] as const) {
      const { headers } = await list(`type=klines&as_of=${asOf}`);
      expect(headers.get("cache-control")).toBe(kept);
      const etag = headers.get("etag") ?? "";
      expect((await list(`type=klines&as_of=${asOf}`, { headers: { "if-none-match": etag } })).status).toBe(304);
      const file = await ask(`klines-EURUSD-2026-10-ask-at${asOf}`);
      expect(file.headers.get("cache-control")).toBe(kept);
      expect(file.headers.get("content-disposition")).toBe(`attachment; filename="EURUSD-M1-2026-10-ask-at${asOf}.parquet"`);
    }
  });

  test.each([
    ["type=ticks&price=ask", "price"],
    ["type=ticks&price=bid", "price"],
    ["type=ticks&as_of=1767225600", "as_of"],
    ["type=klines&price=last", "price"],
    ["type=klines&as_of=99999999999", "as_of"],
    ["type=klines&as_of=yesterday", "as_of"],
  ])("that cannot be served is refused, not answered by another one: %s", async (query, parameter) => {
    expect(await list(query)).toMatchObject(failed("invalid_parameter", { parameter }));
  });
});

describe("a download", () => {
  test("is the whole file, which may be kept for ever, and has a good name", async () => {
    const answer = await ask();
    expect(answer.text).toBe(BYTES);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": PARQUET_MEDIA,
      "content-length": "200000",
      "content-disposition": 'attachment; filename="EURUSD-M1-2026-10.parquet"',
      "accept-ranges": "bytes",
      "cache-control": "private, max-age=31536000, immutable",
      etag: `"${SHA256}"`,
      vary: "Origin, Accept, Authorization",
    });
  });

  test("an id without a revision gives the current file of the period, which has to be revalidated", async () => {
    const { text, headers } = await ask("klines-EURUSD-2026-10");
    expect([text, headers.get("cache-control")]).toEqual([BYTES, "private, no-cache"]);
  });

  test("HEAD answers the whole size, whatever the Range", async () => {
    const { status, text, headers } = await ask(ID, { method: "HEAD", headers: { range: "bytes=0-1" } });
    expect([status, text, headers.get("content-length")]).toEqual([200, "", "200000"]);
  });

  test("answers 304 to who has it", async () => {
    for (const etag of [`"${SHA256}"`, `W/"${SHA256}"`, '"other", *'])
      expect(await ask(ID, { headers: { "if-none-match": etag } })).toMatchObject({ status: 304, text: "" });
    expect((await ask(ID, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  test.each([
    "klines-EURUSD-2026-09",
    "klines-EURUSD-2026-10-0000000000000000",
    "klines-EURUSD-2026-13",
    "klines-NOSUCH-2026-10",
    "ticks-EURUSD-2026-10",
    `${ID}0`,
    "..%2F..%2Fetc",
    "%00",
    "%F0%9F%92%B6",
    "klines-EURUSD-2026-10-31",
    "klines-EURUSD-2026-10-bid",
    "klines-EURUSD-2026-10-at1790812800-ask",
    "klines-EURUSD-2026-10-at99999999999",
    `klines-EURUSD-2026-10-ask-${SHA256.slice(0, 16)}`,
    `klines-EURUSD-2026-10-at1790812800-${SHA256.slice(0, 16)}`,
    "ticks-EURUSD-2026-10-05-ask",
    "ticks-EURUSD-2026-10-05-at1790812800",
    "x",
  ])("of an id that names none is refused with unknown_file: %s", async (id) => {
    expect(await ask(id)).toMatchObject(failed("unknown_file", { detail: expect.stringContaining("List the files again") }));
  });

  test("of an id whose ticker has a typing mistake is refused with the id that is probably meant", async () => {
    const answer = await ask("klines-EURUSDD-2026-10-ask");
    expect(answer).toMatchObject(failed("unknown_file", { parameter: "id", suggestion: "klines-EURUSD-2026-10-ask" }));
    expect((await ask(ID.replace("EURUSD", "EURUSDD"))).body.data).not.toHaveProperty("suggestion");
    const { text: key } = await t.issueKey({ permissions: { kind: "asset_classes", values: ["metals"] } });
    expect((await ask("klines-EURUSDD-2026-10", { key })).body.data).not.toHaveProperty("suggestion");
  });
});

describe("a range", () => {
  test.each([
    ["bytes=0-9", BYTES.slice(0, 10), "bytes 0-9/200000"],
    ["bytes=199995-", BYTES.slice(-5), "bytes 199995-199999/200000"],
    ["bytes=-3", BYTES.slice(-3), "bytes 199997-199999/200000"],
    ["bytes=199999-999999999", "9", "bytes 199999-199999/200000"],
    ["bytes=-999999", BYTES, "bytes 0-199999/200000"],
    ["bytes=65530-131080", BYTES.slice(65_530, 131_081), "bytes 65530-131080/200000"],
  ])("%s is answered with these bytes", async (asked, text, place) => {
    const answer = await range(asked);
    expect(answer.status).toBe(206);
    expect(answer.text).toBe(text);
    expect(answer.headers.get("content-range")).toBe(place);
    expect(answer.headers.get("content-length")).toBe(String(text.length));
  });

  test.each(["bytes=200000-", "bytes=999999999999-", "bytes=-0", "bytes=200000-200001"])(
    "%s is refused with 416",
    async (asked) => {
      const answer = await range(asked);
      expect(answer).toMatchObject(failed("range_not_satisfiable", { max: 200_000 }));
      expect(answer.status).toBe(416);
      expect(answer.headers.get("content-range")).toBe("bytes */200000");
      for (const name of ["content-disposition", "etag", "accept-ranges"]) expect(answer.headers.has(name), name).toBe(false);
    },
  );

  test.each(["bytes=9-0", "bytes=0-1,5-6", "bytes=0-1, bytes=0-1", "bytes=-", "items=0-1", "bytes=a-b", "bytes=0-1-2"])(
    "%s is ignored, and the whole file answered",
    async (asked) => {
      expect(await range(asked)).toMatchObject({ status: 200, text: BYTES });
    },
  );

  test("any header is answered with bytes that it may mean", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.stringMatching(/^bytes=\d{0,9}-\d{0,9}(,\d?-\d?)?$/), fc.string()), async (asked) => {
        const { status, text } = await range(asked.replaceAll(/[^\x20-\x7e]/g, ""));
        expect([200, 206, 416]).toContain(status);
        if (status !== 416) expect(BYTES).toContain(text);
      }),
      { numRuns: 50 },
    );
  });

  test("counts only if the caller's copy is this file", async () => {
    expect((await range("bytes=0-1", { "if-range": `"${SHA256}"` })).status).toBe(206);
    for (const other of ['"other"', `W/"${SHA256}"`, "Wed, 21 Oct 2026 07:28:00 GMT"])
      expect((await range("bytes=0-1", { "if-range": other })).status).toBe(200);
  });

  test("of nothing, or after its own end, has none", () => {
    expect(rangeOf(null, 10)).toBeUndefined();
    expect(rangeOf("bytes=0-", 0)).toEqual({ from: 0, to: 0 });
  });
});

describe("CSV", () => {
  test.each(["?format=csv", ""])("is answered with its own name and validator, where %j and Accept ask for it", async (query) => {
    const headers = query === "" ? { accept: "text/csv" } : {};
    const plain = await t.ask(`${files.path}/${ID}${query}`, { headers });
    expect(plain.text).toBe("type,ticker\r\n");
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": 'attachment; filename="EURUSD-M1-2026-10.csv"',
      etag: `"${SHA256}.csv1"`,
    });
    expect(plain.headers.has("accept-ranges")).toBe(false);
    const held = { ...headers, "if-none-match": `"${SHA256}.csv1"` };
    expect((await t.ask(`${files.path}/${ID}${query}`, { headers: held })).status).toBe(304);
  });

  test("is sent as it is kept to who accepts gzip", async () => {
    const answer = await ask(`${ID}?format=csv`, { headers: { "accept-encoding": "br, gzip", range: "bytes=0-1" } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(answer.headers.get("etag")).toBe(`"${SHA256}.csv1-gzip"`);
    expect(gunzipSync(Buffer.from(answer.bytes)).toString()).toBe("type,ticker\r\n");
  });

  test("in another format is refused", async () => {
    expect(await ask(`${ID}?format=json`)).toMatchObject(failed("invalid_parameter", { allowed: ["parquet", "csv"] }));
  });
});

describe("the charge", () => {
  /** What a call took, which its own header says too. */
  const left = async (work: (key: string) => Promise<Awaited<ReturnType<typeof ask>>>) => {
    const { text: key } = await t.issueKey({ plan: "demo" });
    const before = Number((await ask("x", { key })).headers.get("x-ratelimit-remaining"));
    const { headers } = await work(key);
    const cost = before - Number((await ask("x", { key })).headers.get("x-ratelimit-remaining")) - 1;
    expect(headers.get("x-ratelimit-cost")).toBe(String(cost));
    return cost;
  };

  test("is a unit for each started 100,000 rows, and the share of it that a range is", async () => {
    expect(await left((key) => ask(ID, { key }))).toBe(3);
    expect(await left((key) => ask(`${ID}?format=csv`, { key }))).toBe(3);
    expect(await left((key) => ask(ID, { key, headers: { range: "bytes=0-99999" } }))).toBe(2);
    expect(await left((key) => ask(ID, { key, headers: { range: "bytes=0-0" } }))).toBe(1);
    expect(await left((key) => ask(ID, { key, method: "HEAD" }))).toBe(1);
    expect(await left((key) => ask(ID, { key, headers: { "if-none-match": `"${SHA256}"` } }))).toBe(1);
    expect(await left((key) => t.ask(`${files.path}?ticker=EURUSD&type=klines`, { key }))).toBe(1);
    expect([unitsOf(0, 1), unitsOf(100_000, 1), unitsOf(100_001, 1), unitsOf(250_000, 0.1)]).toEqual([1, 1, 2, 1]);
  });

  test("refuses a file for which no units are left, before a byte of it is sent", async () => {
    const { text: key } = await t.issueKey({ plan: "demo" });
    for (let call = 0; call < 6; call += 1) expect((await ask(ID, { key })).status).toBe(200);
    expect(await ask(ID, { key })).toMatchObject(failed("rate_limited"));
  });
});

describe("a slow reader", () => {
  /** The answer with its parts unread, and the bytes that were read of the file so far. */
  async function begin(bytes: Uint8Array, readable = bytes.length) {
    const source = createMemoryFiles(bytes);
    let read = 0;
    const counted: FileSource = {
      ...source,
      async open(...asked) {
        const file = (await source.open(...asked)) as OpenFile;
        return {
          ...file,
          parquet: {
            size: bytes.length,
            async read(from, to) {
              const part = bytes.subarray(from, Math.min(to, readable));
              read += part.length;
              return part;
            },
          },
        };
      },
    };
    const { text } = await t.issueKey();
    const before = t.markets.live.files;
    Object.assign(t.markets.live, { files: { klines: counted } });
    const headers = { authorization: `Bearer ${text}` };
    const answer = await handler.answer(openBareExchange("GET", `${files.path}/klines-EURUSD-2026-10`, { headers }, null));
    Object.assign(t.markets.live, { files: before });
    if (!isInParts(answer)) throw new Error("The parts were joined.");
    return { parts: (answer.body.parts as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](), read: () => read };
  }

  test("holds one part of a file at a time", async () => {
    const { parts, read } = await begin(Buffer.alloc(1_000_000));
    expect(read()).toBe(65_536);
    await parts.next();
    expect(read()).toBe(65_536);
    await parts.next();
    expect(read()).toBe(131_072);
  });

  test("sees that the rest is missing when a file ends too early", async () => {
    const { parts } = await begin(Buffer.alloc(200_000), 100_000);
    await parts.next();
    await parts.next();
    await expect(parts.next()).rejects.toThrow("a file ended after 100000 of 200000 bytes");
  });
});

describe("a link to a file", () => {
  const openLink = async (query: string) => {
    const { record } = await t.issueKey();
    return makeLink({ ...t.keyContext, secret: TEST_SECRET }, record.id, { operation: "file", query });
  };

  test("answers it to programs without a key, in ranges too", async () => {
    const { path } = await openLink(`id=${ID}&format=parquet`);
    const whole = await t.ask(path, { key: null });
    expect([whole.text, whole.headers.get("cache-control"), whole.headers.has("etag")]).toEqual([BYTES, "no-store", false]);
    const part = await t.ask(path, { key: null, headers: { range: "bytes=10-19", accept: "text/csv" } });
    expect([part.status, part.text]).toEqual([206, BYTES.slice(10, 20)]);
    expect(await t.ask(`${path}&id=klines-EURUSD-2026-09`, { key: null })).toMatchObject(
      failed("invalid_parameter", { parameter: "id" }),
    );
  });

  test("answers CSV where it says so", async () => {
    const { path } = await openLink(`id=${ID}&format=csv`);
    expect((await t.ask(path, { key: null })).text).toBe("type,ticker\r\n");
  });
});
