import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { boundConnections } from "./bound-connections";

let server: Server;
let refusals: string[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  refusals = [];
  await new Promise((resolve) => server.close(resolve));
});

interface Bounds {
  readonly client?: number;
  readonly network?: number;
  readonly maxCount?: number;
  readonly trustedProxies?: readonly string[];
  readonly roomCount?: number;
}

/** Starts a server that answers every request and accepts every upgrade. */
async function start({
  client = 100,
  network = 100,
  maxCount = 100,
  trustedProxies = [],
  roomCount = 200,
}: Bounds): Promise<void> {
  server = createServer((_, response) => response.end("answer"));
  server.on("upgrade", (_, socket) => {
    socket.on("end", () => socket.end()).on("error", () => undefined);
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n");
  });
  const limits = { client, network, all: Number.POSITIVE_INFINITY };
  const metrics = { refused: (where: string, reason: string) => void refusals.push(`${where} ${reason}`) };
  boundConnections(server, { trustedProxies, metrics, limits, maxCount, roomCount });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}

/** Connects from a loopback address. */
async function open(address = "127.0.0.1"): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: "127.0.0.1", localAddress: address });
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const UPGRADE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** Sends a request; resolves with its answer, empty when the connection is closed instead. */
async function ask(socket: Socket, request = REQUEST): Promise<string> {
  socket.write(request);
  const [chunk = ""] = await Promise.race([once(socket, "data"), once(socket, "close")]);
  return String(chunk === true || chunk === false ? "" : chunk);
}

const answers = async (socket: Socket) => (await ask(socket)).startsWith("HTTP/1.1 200");

describe("connections of a server", () => {
  test("one client may have as many as its limit, and one more when one of them is closed", async () => {
    await start({ client: 2 });
    const [first, second] = [await open(), await open()];
    expect(await answers(await open())).toBe(false);
    expect(await answers(await open("127.0.1.1"))).toBe(true);
    expect(refusals).toEqual(["tcp too_many_of_client"]);
    first.destroy();
    await vi.waitFor(async () => expect(await answers(await open())).toBe(true));
    expect(await answers(second)).toBe(true);
  });

  test("one network may have as many as its limit", async () => {
    await start({ network: 2 });
    for (const address of ["127.0.0.2", "127.0.0.3"]) expect(await answers(await open(address))).toBe(true);
    expect(await answers(await open("127.0.0.4"))).toBe(false);
    expect(await answers(await open("127.0.1.4"))).toBe(true);
    expect(refusals).toEqual(["tcp too_many_of_network"]);
  });

  test("streams and connections together have the files that are left; one more is refused and counted", async () => {
    await start({ roomCount: 4, trustedProxies: ["127.0.0.9"] });
    const streams = [await open(), await open("127.0.0.9")];
    for (const stream of streams) expect(await ask(stream, UPGRADE)).toContain("101");
    const others = [await open(), await open()];
    for (const other of others) expect(await answers(other)).toBe(true);
    expect(await answers(await open("127.0.0.9"))).toBe(false);
    expect(refusals).toEqual(["tcp too_many_files"]);
    streams[0]?.destroy();
    await vi.waitFor(async () => expect(await answers(await open("127.0.0.9"))).toBe(true));
  });

  test("connections have half of the files that are left, however many there may be otherwise", async () => {
    await start({ roomCount: 4 });
    const [idle] = [await open(), await open()];
    expect(await answers(await open())).toBe(true);
    await vi.waitFor(() => expect(idle?.destroyed).toBe(true));
    expect(refusals).toEqual(["tcp too_many"]);
  });

  test("when all are too many, the one that asked for nothing for the longest time is closed for a new one", async () => {
    await start({ maxCount: 3 });
    const [busy, idle, last] = [await open(), await open(), await open()];
    expect(await answers(busy)).toBe(true);
    const closed = once(idle, "close");
    expect(await answers(await open())).toBe(true);
    await closed;
    expect([await answers(busy), await answers(last)]).toEqual([true, true]);
    expect(refusals).toEqual(["tcp too_many"]);
  });

  test("those of trusted proxies and those that became streams do not count", async () => {
    await start({ client: 1, maxCount: 1, trustedProxies: ["127.0.2.0/24"] });
    for (const address of ["127.0.2.1", "127.0.2.1", "127.0.2.2"]) expect(await answers(await open(address))).toBe(true);
    for (const _ of [1, 2]) expect(await ask(await open(), UPGRADE)).toContain("101");
    expect(await answers(await open())).toBe(true);
    expect(await answers(await open())).toBe(false);
    expect(refusals).toEqual(["tcp too_many_of_client"]);
  });
});
