import type { Socket } from "node:net";
import { decode, encode } from "@msgpack/msgpack";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createClient, type PushMessage } from "#lib/client/index";
import { webSocketDialer } from "#lib/client/socket";
import { revokeKey } from "#server/store/access/keys";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

let t: StreamService;
/** Connections of the server, cut to simulate a bad network. */
const sockets = new Set<Socket>();

beforeAll(async () => {
  t = await startStreamService();
  t.server.on("connection", (socket) => sockets.add(socket));
});
afterAll(() => t.close());

const messagePack = { encode: vi.fn(encode), decode: vi.fn(decode) };
const browserDialer = webSocketDialer(WebSocket as unknown as typeof globalThis.WebSocket);

const cutLine = () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
};

describe.each([
  { name: "JSON", ticker: "EURUSD", options: {} },
  { name: "MessagePack", ticker: "GBPUSD", options: { messagePack } },
  { name: "MessagePack and a WebSocket without headers", ticker: "AUDUSD", options: { messagePack, dialer: browserDialer } },
])("the published client on the real service, in $name", ({ ticker, options }) => {
  test("the published client reads over REST what it streams, and continues without a gap after its connection was cut", async () => {
    const { text: key } = await t.issueKey();
    await t.tick(ticker, 1.1, 1.1001);
    const client = createClient({ baseUrl: t.url, key, ...options });
    messagePack.decode.mockClear();
    const gaps: unknown[] = [];
    const states: string[] = [];
    const stream = client.stream({ onGap: (gap) => gaps.push(gap), onStateChange: ({ state }) => states.push(state) });
    const records: PushMessage[] = [];
    const quotes = stream.subscribe({ stream: "quote", tickers: [ticker] }, (record) => records.push(record));
    expect(await quotes.ready).toMatchObject({ accepted: [ticker] });
    await vi.waitFor(() => expect(records).toHaveLength(1));

    cutLine();
    await vi.waitFor(() => expect(states).toContain("waiting"));
    for (const bid of [1.2, 1.3, 1.4]) await t.tick(ticker, bid, bid + 0.0001);
    await vi.waitFor(() => expect(records).toHaveLength(4));
    const first = records[0]?.seq ?? 0;
    expect(records.map(({ seq, event }) => [seq - first, event])).toEqual([
      [0, "snapshot"],
      [1, "update"],
      [2, "update"],
      [3, "update"],
    ]);
    expect(gaps).toEqual([]);
    expect(messagePack.decode.mock.calls.length > 0).toBe("messagePack" in options);
    expect((await client.latestQuotes({ tickers: [ticker] })).items).toEqual([records.at(-1)?.data]);
    stream.close();
  });

  test("the published client does not reconnect when its key was revoked, and reports why", async () => {
    const { text: key, record } = await t.issueKey();
    const stream = createClient({ baseUrl: t.url, key, ...options }).stream();
    const ended = stream.closed.catch((error: unknown) => error);
    await stream.subscribe({ stream: "quote", tickers: ["EURUSD"] }, () => undefined).ready;
    await revokeKey(t.keyContext, record.id);
    expect(await ended).toMatchObject({ id: "unauthorized" });
    await expect(createClient({ baseUrl: t.url, key }).instruments()).rejects.toMatchObject({ id: "unauthorized", status: 401 });
  });
});
