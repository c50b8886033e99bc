import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { createDrain } from "./shutdown";

const KEEP_ALIVE_MS = 3_600_000;
const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

let server: Server;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

afterEach(() => {
  server.closeAllConnections();
});

/** Starts a server that keeps idle connections for an hour; resolves with the answers that are due. */
async function start(keepAliveTimeout = KEEP_ALIVE_MS): Promise<ServerResponse[]> {
  const due: ServerResponse[] = [];
  server = createServer({ keepAliveTimeout }, (_, response) => void due.push(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return due;
}

const port = () => (server.address() as AddressInfo).port;

async function open(): Promise<Socket> {
  const socket = connect(port(), "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Asks, answers, and leaves the connection idle. */
async function idleSocket(due: ServerResponse[]): Promise<Socket> {
  const socket = await open();
  socket.write(REQUEST);
  await vi.waitFor(() => expect(due).toHaveLength(1));
  due.pop()?.end("well");
  await once(socket, "data");
  return socket;
}

test("a stop closes idle connections at once, however long they may be kept", async () => {
  const due = await start();
  const socket = await idleSocket(due);
  const cut = vi.spyOn(server, "closeAllConnections");
  await Promise.all([createDrain(server)(), once(socket, "close")]);
  expect(cut).not.toHaveBeenCalled();
});

test.each([
  ["an hour", KEEP_ALIVE_MS],
  ["as long as the other side wants", 0],
])("a stop answers a request in flight, and closes its connection then, though it may be kept for %s", async (_, keepAlive) => {
  const due = await start(keepAlive);
  const asked = get({ port: port(), host: "127.0.0.1", agent });
  await vi.waitFor(() => expect(due).toHaveLength(1));
  const cut = vi.spyOn(server, "closeAllConnections");
  const drained = createDrain(server)();
  due[0]?.end("well");
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(await answer.toArray().then(String)).toBe("well");
  await drained;
  expect(cut).not.toHaveBeenCalled();
});

test("a connection on which requests follow one another is told that it closes", async () => {
  const due = await start();
  const socket = await open();
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.write(REQUEST);
  await vi.waitFor(() => expect(due).toHaveLength(1));
  const drained = createDrain(server)();
  // The next one arrives before the first is answered.
  socket.write(REQUEST);
  await vi.waitFor(() => expect(due).toHaveLength(2));
  for (const response of due) response.end("well");
  await Promise.all([drained, once(socket, "close")]);
  expect(text.match(/^connection: .*$/gim)).toEqual(["Connection: keep-alive", "Connection: close"]);
});
