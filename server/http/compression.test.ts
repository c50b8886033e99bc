import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { type WholeAnswer as Answer, isInParts } from "#lib/http/respond";
import { createCompression as create } from "./compression";

type Asking = Parameters<ReturnType<typeof create>>[0];

/** A compression of whole bodies. */
function createCompression(options?: Parameters<typeof create>[0]) {
  const compress = create(options);
  return (request: Asking, answer: Answer) => compress(request, answer) as Answer | Promise<Answer>;
}

const JSON_TYPE = "application/json; charset=utf-8";
const TEXT = JSON.stringify({ items: Array.from({ length: 200 }, (_, index) => ({ time: index, close: index / 7 })) });
const asking = (accepted: string, method = "GET") => ({ method, headers: { "accept-encoding": accepted } });
const answerOf = (body: Answer["body"], headers: Answer["headers"] = {}): Answer => ({
  status: 200,
  headers: { "content-type": JSON_TYPE, ...headers },
  body,
});
const plain = ({ body, headers }: Answer) => {
  const bytes = Buffer.from(body ?? "");
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }[headers["content-encoding"] ?? ""];
  return (decode?.(bytes) ?? bytes).toString();
};

describe("an answer", () => {
  test.each(["br", "gzip"])("is sent in %s to who accepts it, with a strong tag of its own", async (encoding) => {
    for (const body of [TEXT, Buffer.from(TEXT)]) {
      const compress = createCompression();
      const answer = await compress(asking(encoding), answerOf(body, { etag: '"a1"', vary: "Origin" }));
      expect(answer.headers).toEqual({
        "content-type": JSON_TYPE,
        "content-encoding": encoding,
        etag: `"a1-${encoding}"`,
        vary: "Origin, Accept-Encoding",
      });
      expect(answer.body?.length).toBeLessThan(TEXT.length / 3);
      expect(plain(answer)).toBe(TEXT);
    }
  });

  test.each<[string, string, Answer]>([
    ["a client that accepts nothing", "identity", answerOf(TEXT)],
    ["a body of less than 1 KiB", "br", answerOf("x".repeat(1_023))],
    ["a body of more than 4 MiB", "br", answerOf("x".repeat(4_194_305))],
    ["a stream of events", "br", answerOf(TEXT, { "content-type": "text/event-stream" })],
    ["what is compressed already", "br", answerOf(TEXT, { "content-type": "application/gzip" })],
    ["a body that has a coding", "br", answerOf(TEXT, { "content-encoding": "zstd" })],
    ["304", "br", { ...answerOf(null, { etag: '"a1-br"' }), status: 304 }],
  ])("is sent as it is, and caches learn that the coding varies: %s", async (_, accepted, answer) => {
    const headers = { ...answer.headers, vary: "Accept-Encoding" };
    expect(createCompression()(asking(accepted), answer)).toEqual({ ...answer, headers });
  });

  test("to HEAD has the headers of GET, and nothing is compressed for it", () => {
    const compress = createCompression({ runningMaxCount: 0 });
    for (const answer of [answerOf(null, { "content-length": "5000", etag: '"a1"' }), answerOf(TEXT, { etag: '"a1"' })]) {
      const sent = compress(asking("gzip", "HEAD"), answer) as Answer;
      expect(sent.headers).toMatchObject({ "content-encoding": "gzip", etag: '"a1-gzip"' });
      expect(sent.headers).not.toHaveProperty("content-length");
      expect(sent.body).toBeNull();
    }
    const small = compress(asking("gzip", "HEAD"), answerOf(null, { "content-length": "500" })) as Answer;
    expect(small.headers).toMatchObject({ "content-length": "500" });
  });
});

describe("the work that clients can cause", () => {
  test("at most two bodies are compressed at once, and the next is sent as it is", async () => {
    const compress = createCompression();
    const [first, second, third] = [1, 2, 3].map(() => compress(asking("br"), answerOf(TEXT)));
    expect((third as Answer).body).toBe(TEXT);
    expect((third as Answer).headers).not.toHaveProperty("content-encoding");
    for (const answer of await Promise.all([first, second])) expect(answer?.headers["content-encoding"]).toBe("br");
    expect((await compress(asking("br"), answerOf(TEXT))).headers["content-encoding"]).toBe("br");
  });

  test("a body with a tag is compressed once for all who ask, in each coding", async () => {
    const compress = createCompression({ runningMaxCount: 1 });
    const tagged = () => answerOf(TEXT, { etag: '"a1"' });
    const asked = await Promise.all([1, 2, 3].map(() => compress(asking("br"), tagged())));
    expect(asked.map(({ headers }) => headers["content-encoding"])).toEqual(["br", "br", "br"]);
    const again = compress(asking("br"), tagged()) as Answer;
    expect(again.body).toBe(asked[0]?.body);
    const gzipped = await compress(asking("gzip"), tagged());
    expect(plain(gzipped)).toBe(TEXT);
    expect(plain(await compress(asking("br"), answerOf(`${TEXT} `, { etag: '"b2"' })))).toBe(`${TEXT} `);
  });

  test("the same bytes without a tag are compressed once for all who ask, in each coding, and other bytes for themselves", async () => {
    const compress = createCompression({ runningMaxCount: 1 });
    const body = Buffer.from(TEXT);
    const asked = await Promise.all([1, 2, 3].map(() => compress(asking("br"), answerOf(body))));
    expect(asked.map(({ headers }) => headers["content-encoding"])).toEqual(["br", "br", "br"]);
    expect((compress(asking("br"), answerOf(body)) as Answer).body).toBe(asked[0]?.body);
    expect(plain(await compress(asking("gzip"), answerOf(body)))).toBe(TEXT);
    expect(plain(await compress(asking("br"), answerOf(Buffer.from(`${TEXT} `))))).toBe(`${TEXT} `);
  });

  test("compressed bodies are kept up to a number of bytes", async () => {
    const measured = await createCompression()(asking("br"), answerOf(TEXT));
    const compress = createCompression({ keptMaxBytes: measured.body?.length ?? 0 });
    const tagged = (etag: string) => compress(asking("br"), answerOf(TEXT, { etag }));
    await tagged('"a1"');
    expect(tagged('"a1"')).not.toBeInstanceOf(Promise);
    await tagged('"b2"');
    expect(tagged('"b2"')).not.toBeInstanceOf(Promise);
    expect(tagged('"a1"')).toBeInstanceOf(Promise);
  });

  test("so many bodies in parts are compressed at once, and the next is sent as it is, until one has ended", async () => {
    const compress = create({ streamedMaxCount: 1, runningMaxCount: 0 });
    const ask = async (accepted: string) => {
      const answer = await compress(asking(accepted), {
        status: 200,
        headers: { "content-type": "text/csv; charset=utf-8", etag: '"a1"' },
        body: { parts: ["a,b\r\n", "1,2\r\n"] },
      });
      if (!isInParts(answer)) throw new Error("The parts were joined.");
      return { ...answer, ...answer.body };
    };
    for (const [accepted, decode] of [["br", brotliDecompressSync] as const, ["gzip", gunzipSync] as const]) {
      const { encoder, headers, parts } = await ask(accepted);
      expect(headers).toMatchObject({ "content-encoding": accepted, etag: `"a1-${accepted}"`, vary: "Accept-Encoding" });
      const next = await ask(accepted);
      expect([next.encoder, next.headers["content-encoding"], next.headers.etag]).toEqual([undefined, undefined, '"a1"']);
      if (encoder === undefined) throw new Error("not compressed");
      const bytes = await buffer(Readable.from(parts).pipe(encoder));
      expect(decode(bytes).toString()).toBe("a,b\r\n1,2\r\n");
    }
    (await ask("br")).encoder?.destroy();
    await vi.waitFor(async () => expect((await ask("br")).encoder).toBeDefined());
  });
});
