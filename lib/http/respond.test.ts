import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type WholeAnswer, writeAnswer } from "./respond";

const BODIES: readonly (readonly [string, WholeAnswer["body"]])[] = [
  ["ASCII text", "plain"],
  ["text in Latin-1", "Zürich"],
  ["text beyond Latin-1", "東京 € 😀"],
  ["an empty text", ""],
  ["a text larger than a socket takes at once", "é".repeat(3_000_000)],
  ["bytes", new Uint8Array([0, 200, 255])],
];

test.each(BODIES)("%s is sent as the bytes that Content-Length counts, to HEAD without them", async (_, body) => {
  const server = createServer((_request, response) => writeAnswer(response, { status: 200, headers: { "x-a": "b" }, body }));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const ask = (method: string) =>
    new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port, method, agent: false }, resolve).on("error", reject);
    });
  const expected = Buffer.from(body ?? "");
  const answer = await ask("GET");
  expect(answer.headers).toMatchObject({ "x-a": "b", "content-length": String(expected.byteLength) });
  expect((await buffer(answer)).equals(expected)).toBe(true);
  const head = await ask("HEAD");
  expect(head.headers["content-length"]).toBe(String(expected.byteLength));
  expect((await buffer(head)).byteLength).toBe(0);
  server.close();
});
