import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { inOrder, PIPELINED_MAX_COUNT } from "./in-order";

let server: Server;
let refused = 0;
/** Requests whose answer is still due, by path. */
let begun: { path: string; response: ServerResponse }[] = [];
const sockets: Socket[] = [];

beforeEach(async () => {
  refused = 0;
  begun = [];
  const handle = inOrder({
    handle: ({ url = "" }, response) => void begun.push({ path: url, response }),
    onRefused: () => {
      refused += 1;
    },
  });
  server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

function open() {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  const send = (paths: readonly string[]) =>
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  return { socket, send, received: () => received };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `/${index}`);
const paths = () => begun.map(({ path }) => path);

describe("pipelined requests", () => {
  test("pipelined requests start one after the other, as their answers are read", async () => {
    const client = open();
    client.send(numbered(PIPELINED_MAX_COUNT + 1));
    for (const [index, path] of numbered(PIPELINED_MAX_COUNT + 1).entries()) {
      await vi.waitFor(() => expect(paths().at(-1)).toBe(path));
      expect(begun).toHaveLength(index + 1);
      begun[index]?.response.end(`answer ${path};`);
    }
    await vi.waitFor(() => expect(client.received()).toContain(`answer /${PIPELINED_MAX_COUNT};`));
    const answers = [...client.received().matchAll(/answer (\/\d+);/g)].map(([, path]) => path);
    expect(answers).toEqual(numbered(PIPELINED_MAX_COUNT + 1));
    client.send(["/later"]);
    await vi.waitFor(() => expect(paths().at(-1)).toBe("/later"));
    expect(refused).toBe(0);
  });

  test("a connection with more pipelined requests than the limit is closed", async () => {
    const client = open();
    client.send(numbered(PIPELINED_MAX_COUNT + 2));
    await once(client.socket, "close");
    expect(refused).toBe(1);
    expect(begun).toHaveLength(1);
  });

  test("requests that wait are dropped with their connection, and other connections are not affected", async () => {
    const [gone, other] = [open(), open()];
    gone.send(["/first", "/second"]);
    await vi.waitFor(() => expect(paths()).toEqual(["/first"]));
    const over = once(begun[0]?.response as ServerResponse, "close");
    gone.socket.destroy();
    await over;
    other.send(["/other"]);
    await vi.waitFor(() => expect(paths()).toEqual(["/first", "/other"]));
  });
});
