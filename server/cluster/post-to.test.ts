import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { postTo, socketAddress } from "./post-to";

/** A process of this node that answers at a socket. */
async function listen(answer: RequestListener): Promise<string> {
  const file = path.join(tmpdir(), `spotwire-post-${randomUUID()}.sock`);
  const server = createServer(answer).listen(file);
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, "listening");
  return `${socketAddress(file)}/there`;
}

async function* chunks(count: number) {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(65_536, index);
}
const post = (body: AsyncIterable<Uint8Array>, maxMs = 20_000) => ({ headers: { authorization: "Bearer pass" }, body, maxMs });

test("a body reaches a socket of this machine whole, with its headers, and the answer comes back", async () => {
  const target = await listen(async (request, response) => {
    const { length } = await buffer(request);
    response.end(JSON.stringify({ length, url: request.url, method: request.method, pass: request.headers.authorization }));
  });
  const answer = await postTo(target, post(chunks(40)));
  expect(answer).toEqual({ length: 40 * 65_536, url: "/there", method: "POST", pass: "Bearer pass" });
});

test("an answer that comes before the end of the body counts, every time", async () => {
  const target = await listen((request, response) => {
    request.once("data", () => response.end('{"early":true}'));
    request.resume();
  });
  for (let index = 0; index < 200; index += 1) expect(await postTo(target, post(chunks(2)))).toEqual({ early: true });
});

test("a process that is gone, or does not answer in time, is an error", async () => {
  await expect(postTo(`${socketAddress("/nowhere.sock")}/there`, post(chunks(1)))).rejects.toThrow("ENOENT");
  const silent = await listen((request) => void request.resume());
  await expect(postTo(silent, post(chunks(1), 50))).rejects.toThrow("aborted");
});
