import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createGzip } from "node:zlib";
import { afterEach, expect, test, vi } from "vitest";
import type { AnswerInParts } from "#lib/http/respond";
import { createPartsSender } from "./send-parts";

const PART = `${"x".repeat(9_999)}\n`;
/** More than the buffers of a connection hold. */
const MANY_COUNT = 5_000;

let server: Server | undefined;
afterEach(() => void server?.closeAllConnections());

/** A server that sends these parts to every request; what goes wrong with its own work is in `errors`. */
async function start(parts: () => Iterable<string>, more: Partial<AnswerInParts["body"]> = {}) {
  const errors: unknown[] = [];
  const send = createPartsSender({ error: (entry: unknown) => errors.push(entry) } as never);
  server = createServer((_, response) =>
    send(response, { status: 200, headers: { "x-a": "1" }, body: { parts: parts(), ...more } }),
  );
  server.listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/`, errors };
}

test("the parts arrive in order under the headers, compressed where an encoder is given", async () => {
  const { url } = await start(() => ["a", "b", "ü"]);
  const plain = await fetch(url);
  expect([plain.headers.get("x-a"), plain.headers.get("content-length"), await plain.text()]).toEqual(["1", null, "abü"]);
  server?.close();
  const packed = await start(() => [PART, PART], { encoder: createGzip() });
  const bytes = new Blob([await (await fetch(packed.url)).arrayBuffer()]).stream().pipeThrough(new DecompressionStream("gzip"));
  expect(await new Response(bytes).text()).toBe(PART + PART);
});

test("many callers take turns, so that in one turn of the event loop one part is made", async () => {
  const madeInTurn: number[] = [];
  let turn = 0;
  let counting = true;
  const count = () => {
    turn += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const { url } = await start(function* () {
    for (let made = 0; made < 20; made += 1) {
      madeInTurn.push(turn);
      yield PART;
    }
  });
  const answers = await Promise.all(Array.from({ length: 10 }, async () => (await fetch(url)).text()));
  counting = false;
  expect(new Set(answers)).toEqual(new Set([PART.repeat(20)]));
  expect(madeInTurn).toHaveLength(200);
  expect(new Set(madeInTurn).size).toBe(200);
});

test("for a client that does not read, few parts are made, and none when it has left", async () => {
  let made = 0;
  let ended = false;
  const { port, errors } = await start(function* () {
    try {
      for (; made < MANY_COUNT; made += 1) yield PART;
    } finally {
      ended = true;
    }
  });
  const client = connect(port, "127.0.0.1");
  client.pause();
  client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  let before = -1;
  await vi.waitFor(
    () => {
      const grown = made !== before;
      before = made;
      expect(made > 0 && !grown).toBe(true);
    },
    { interval: 100 },
  );
  expect(made).toBeLessThan(MANY_COUNT / 2);
  client.destroy();
  await vi.waitFor(() => expect(ended).toBe(true));
  expect(errors).toEqual([]);
});

test("a failure in the middle cuts the body off, so that no client takes it for whole, and is logged", async () => {
  const { url, errors } = await start(function* () {
    yield PART;
    throw new Error("no more");
  });
  const response = await fetch(url);
  await expect(response.text()).rejects.toThrow();
  expect(errors).toEqual([{ err: new Error("no more") }]);
});
