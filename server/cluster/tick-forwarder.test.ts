import { randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSignedTokens } from "#lib/access/signed-token";
import { manualClock } from "#lib/clock";
import { INGEST_MAX_BYTES, INGEST_MAX_LINES, KEY_TICKERS_MAX_COUNT, TICKER_MAX_CHARACTERS } from "#lib/contract/limits";
import type { Venue } from "#lib/contract/primitives";
import type { Tick } from "#lib/domain/tick";
import { Fault, isFault } from "#lib/fault";
import type { MendedMarket } from "#lib/market/ingest-klines";
import { createLeader } from "#lib/market/leader";
import type { KlinePush } from "#lib/market/mending";
import type { Leader } from "#lib/market/ports";
import { reservePort } from "#lib/testing/ports";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { createTestMarket } from "#server/testing/market";
import { createTickForwarder, FORWARDED_TICKS_PATH } from "./tick-forwarder";

const SECRET = "a secret that is known to this test alone";
const PASS_LIFETIME_MS = 60_000;
const FORWARD_MAX_MS = 30_000;
const LIVE = { venue: "live", tickers: [] } as const;
const NOBODY = { id: "service_unavailable", data: { retry_after: 1, detail: expect.stringContaining("No node takes") } };

const line = (bid: number) => `${JSON.stringify({ ticker: "EURUSD", time_msc: 1_767_225_600_000, bid, ask: bid + 1 })}\n`;

/** A request body of these parts that then ends, or breaks off. */
function bodyOf(parts: Iterable<string>, broken = false): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const left = parts[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = left.next();
      if (!done) controller.enqueue(encoder.encode(value));
      else if (broken) controller.error(new Error("the feeder went away"));
      else controller.close();
    },
  });
}

/** Listens until the test is over; returns its address. */
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Push = Leader["push"];
type Mend = MendedMarket["mend"];

/** Where something is pushed, and what the key may push. */
interface Pushing {
  readonly venue: Venue;
  readonly tickers: readonly string[];
}

/** A node that listens at an address; it accepts pushed ticks when `push` is given. */
async function openNode(
  push: Partial<Record<Venue, Push>> = {},
  { secret = SECRET, nowMs = 0, mend }: { secret?: string; nowMs?: number; mend?: Mend } = {},
) {
  const clock = manualClock(nowMs);
  const catalogue = createSandboxCatalogue();
  const passedOn = vi.fn<Leader["takeTicks"]>();
  function venueOf(venue: Venue) {
    const market = createTestMarket(venue, catalogue);
    const own = createLeader({ market, push: push[venue] ?? null, mend: mend ?? null, clock });
    const leads = push[venue] !== undefined || mend !== undefined;
    return { ...market, leader: { ...own, takeTicks: passedOn }, leading: () => (leads ? own : null) };
  }
  const markets = { live: venueOf("live"), sandbox: venueOf("sandbox") };
  const door = createTickForwarder({ secret, markets: () => markets, clock });
  const paths: string[] = [];
  const answer = getRequestListener((request) => {
    paths.push(new URL(request.url).pathname);
    return door.answer(request);
  });
  const address = await listen((request, response) => void answer(request, response));
  return {
    clock,
    address,
    paths,
    passedOn,
    forward: ({ venue, tickers }: Pushing, to: string | undefined, body: AsyncIterable<Uint8Array> | null) =>
      door.leaderAt(venue, () => to).takeTicks(body, tickers),
    push: (to: string, read: Parameters<Push>[0]) => door.leaderAt("live", () => to).push(read),
    forwardKlines: ({ venue, ...push }: Pushing & KlinePush, to: string | undefined, body: AsyncIterable<Uint8Array> | null) =>
      door.leaderAt(venue, () => to).takeKlines(body, push),
  };
}

/** Accepts and stores every tick. */
function taking() {
  const ticks: Tick[] = [];
  const push: Push = async (read) =>
    read.map((tick) => {
      if (typeof tick === "string") return tick;
      ticks.push(tick);
      return tick.bid === 2 ? "duplicate" : null;
    });
  return { ticks, push };
}

const failing =
  (fault: Error): Push =>
  () =>
    Promise.reject(fault);

describe("ticks pushed to a node without the lease", () => {
  test("pushed ticks are forwarded to the lease holder, and its receipt comes back", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    const receipt = await asked.forward(LIVE, holder.address, bodyOf([line(1), line(2), "garbage\n", line(3)]));
    expect(receipt).toEqual({
      received: 4,
      accepted: 2,
      rejected: 2,
      reasons: { duplicate: 1, malformed_line: 1 },
      rejections: [
        { line: 2, reason: "duplicate" },
        { line: 3, reason: "malformed_line", detail: "The line is not JSON." },
      ],
    });
    expect(ticks.map(({ bid }) => bid)).toEqual([1, 2, 3]);
    expect(holder.paths).toEqual([FORWARDED_TICKS_PATH]);
    expect(await asked.forward(LIVE, holder.address, null)).toMatchObject({ received: 0 });
  });

  test("what was read as a reason is not sent, and each tick gets its own outcome", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    const [one, two, three] = [1, 2, 3].map((bid): Tick => ({ ticker: "EURUSD", time_msc: bid, bid, ask: 4 }));
    const read = ["malformed_line", one, two, "unknown_ticker", three, two] as Tick[];
    const outcomes = ["malformed_line", null, "duplicate", "unknown_ticker", null, "duplicate"];
    expect(await asked.push(holder.address, read)).toEqual(outcomes);
    expect(ticks).toEqual([one, two, three, two]);
    expect(await asked.push(holder.address, ["bad_price"])).toEqual(["bad_price"]);
    expect(await asked.push(holder.address, [])).toEqual([]);
    expect(holder.paths).toHaveLength(1);
  });

  test("ticks of which the lease holder's receipt does not tell do not count as accepted", async () => {
    const asked = await openNode();
    const tick: Tick = { ticker: "EURUSD", time_msc: 1, bid: 1, ask: 2 };
    const receipt = { received: 2, accepted: 1, rejected: 1, reasons: { duplicate: 1 } };
    const receipts = [
      { ...receipt, received: 1, rejections: [{ line: 2, reason: "duplicate" }] },
      { ...receipt, rejections: [] },
      { ...receipt, rejections: [{ line: 3, reason: "duplicate" }] },
    ];
    for (const data of receipts) {
      const address = await listen((_request, response) => response.end(JSON.stringify({ code: 0, data })));
      await expect(asked.push(address, [tick, tick])).rejects.toMatchObject(NOBODY);
    }
  });

  test("the lease holder rejects tickers that the key may not push, as many as a key may be limited to", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    const others = Array.from({ length: KEY_TICKERS_MAX_COUNT - 1 }, (_, index) =>
      `${index}`.padStart(TICKER_MAX_CHARACTERS, "T"),
    );
    const body = () => bodyOf([line(1), line(3).replace("EURUSD", "XAUUSD")]);
    const pushing = { venue: "live", tickers: [...others, "XAUUSD"] } as const;
    const receipt = await asked.forward(pushing, holder.address, body());
    expect(receipt).toMatchObject({ accepted: 1, rejections: [{ line: 1, reason: "unknown_ticker" }] });
    expect(ticks.map(({ ticker }) => ticker)).toEqual(["XAUUSD"]);
    expect(await asked.forward(LIVE, holder.address, body())).toMatchObject({ accepted: 2 });
  });

  test("forwarded ticks are streamed: the body is not buffered first", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    const parts = [line(1), line(3)];
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const part = parts[sent];
          await vi.waitUntil(() => ticks.length === sent);
          sent += 1;
          if (part === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(part));
        },
      },
      { highWaterMark: 0 },
    );
    expect(await asked.forward(LIVE, holder.address, body)).toMatchObject({ accepted: 2 });
  });

  test.each([
    new Fault("service_unavailable", {
      detail: "The database has fallen behind, so ticks are not accepted right now.",
      retry_after: 5,
    }),
    new Fault("invalid_parameter", { detail: "The body ended early.", parameter: "body" }),
    new Fault("payload_too_large", { detail: "Too long.", max: 7 }),
  ])("an error of the lease holder is passed on to the client: $id", async (fault) => {
    const [asked, holder] = [await openNode(), await openNode({ live: failing(fault) })];
    const refused = asked.forward(LIVE, holder.address, bodyOf([line(1)]));
    await expect(refused).rejects.toSatisfy(isFault);
    await expect(refused).rejects.toMatchObject({ id: fault.id, data: fault.data });
  });

  test("an internal error of the lease holder is passed on", async () => {
    const [asked, holder] = [await openNode(), await openNode({ live: failing(new Error("a bug")) })];
    await expect(asked.forward(LIVE, holder.address, bodyOf([line(1)]))).rejects.toMatchObject({ id: "internal_error" });
  });

  test("the line limit of a forwarded request is the same as at the lease holder", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    const body = bodyOf(["{}\n".repeat(INGEST_MAX_LINES), line(1)]);
    const refused = { id: "payload_too_large", data: { max: INGEST_MAX_LINES, detail: expect.stringContaining("rejected") } };
    await expect(asked.forward(LIVE, holder.address, body)).rejects.toMatchObject(refused);
    expect(ticks).toEqual([]);
  });

  test("a forwarded request past the byte limit is refused, though the lease holder stops reading early", async () => {
    const [asked, holder] = [await openNode(), await openNode({ live: taking().push })];
    const part = `${"x".repeat(65_535)}\n`;
    const parts = Array.from({ length: Math.ceil((4 * INGEST_MAX_BYTES) / part.length) }, () => part);
    await expect(asked.forward(LIVE, holder.address, bodyOf(parts))).rejects.toMatchObject({ id: "payload_too_large" });
  });

  test("a forwarded body that breaks off is accepted up to there, and nothing hangs", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    await expect(asked.forward(LIVE, holder.address, bodyOf([line(1), line(3)], true))).rejects.toSatisfy(isFault);
    expect(await asked.forward(LIVE, holder.address, bodyOf([line(4)]))).toMatchObject({ accepted: 1 });
    expect(ticks.map(({ bid }) => bid).at(-1)).toBe(4);
  });

  test("pushed ticks are refused when no node holds the lease, or when the named node does not hold it either", async () => {
    const [asked, other] = [await openNode(), await openNode()];
    await expect(asked.forward(LIVE, undefined, bodyOf([line(1)]))).rejects.toMatchObject(NOBODY);
    await expect(asked.forward(LIVE, other.address, bodyOf([line(1)]))).rejects.toMatchObject(NOBODY);
    expect(other.paths).toHaveLength(1);
    expect(other.passedOn).not.toHaveBeenCalled();
  });

  test("pushed ticks are refused when the lease holder does not answer, or when something else answers in its place", async () => {
    const asked = await openNode();
    const forward = (address: string) => asked.forward(LIVE, address, bodyOf([line(1)]));
    await expect(forward(`http://127.0.0.1:${await reservePort()}`)).rejects.toMatchObject(NOBODY);
    await expect(forward("not an address")).rejects.toMatchObject(NOBODY);
    const answers: RequestListener[] = [
      (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>It works</h1>"),
      (_request, response) => response.writeHead(502).end("{}"),
      (_request, response) => response.end('{"code":0,"data":{"accepted":1}}'),
      (_request, response) => response.end('{"code":1,"message":"toString","data":{}}'),
      (_request, response) => response.end("null"),
      (_request, response) => response.writeHead(302, { location: "/" }).end(),
      (request) => request.socket.destroy(),
    ];
    for (const answer of answers) await expect(forward(await listen(answer)), `${answer}`).rejects.toMatchObject(NOBODY);
  });

  test("forwarding fails after half a minute when the lease holder hangs", async () => {
    const limit = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
    onTestFinished(() => timeout.mockRestore());
    const asked = await openNode();
    const reached = new Promise<string>((resolve) => {
      listen((request) => request.once("data", () => limit.abort())).then(resolve);
    });
    await expect(asked.forward(LIVE, await reached, bodyOf([line(1)]))).rejects.toMatchObject(NOBODY);
    expect(timeout).toHaveBeenCalledWith(FORWARD_MAX_MS);
  });
});

describe("klines pushed to a node without the lease", () => {
  const nowMs = 1_767_225_720_000;
  const kline = { ticker: "EURUSD", time: 1_767_225_600, open: 1, high: 1, low: 1, close: 1, tick_volume: 1 };
  const body = () => bodyOf([`${JSON.stringify(kline)}\n`, `${JSON.stringify({ ...kline, ticker: "XAUUSD" })}\n`]);
  const pushing = { venue: "live", tickers: ["EURUSD"], replace: "all", keyId: "key-1", label: "sw_live_a…b" } as const;

  test("pushed klines are forwarded to the lease holder with what the key may do, and its receipt comes back", async () => {
    const mend = vi.fn<Mend>(async (klines) => ({
      outcomes: klines.map(() => null),
      number: 5,
      changed: [],
    }));
    const [asked, holder] = [await openNode({}, { nowMs }), await openNode({}, { nowMs, mend })];
    expect(await asked.forwardKlines(pushing, holder.address, body())).toEqual({
      received: 2,
      accepted: 1,
      rejected: 1,
      reasons: { unknown_ticker: 1 },
      import: 5,
      rejections: [{ line: 2, reason: "unknown_ticker" }],
    });
    expect(mend.mock.calls).toMatchObject([[[kline], { replace: "all", by: { keyId: "key-1", label: "sw_live_a…b" } }]]);
  });

  test("pushed klines are refused when the named node does not hold the lease, and an error of the holder is passed on", async () => {
    const asked = await openNode({}, { nowMs });
    const ticksOnly = await openNode({ live: taking().push }, { nowMs });
    const { address } = await openNode({}, { nowMs });
    await expect(asked.forwardKlines(pushing, address, body())).rejects.toMatchObject(NOBODY);
    const refused = { id: "service_unavailable", data: { detail: "The live venue does not accept pushed klines." } };
    await expect(asked.forwardKlines(pushing, ticksOnly.address, body())).rejects.toMatchObject(refused);
    const fault = new Fault("service_unavailable", { detail: "An import runs.", retry_after: 10 });
    const refusing = await openNode({}, { nowMs, mend: () => Promise.reject(fault) });
    await expect(asked.forwardKlines(pushing, refusing.address, body())).rejects.toMatchObject({ data: fault.data });
  });
});

describe("the endpoint for forwarded ticks", () => {
  const passOf = (secret: string, given: { venue: Venue; until: number }, purpose = "pushed ticks") =>
    createSignedTokens({ secret, purpose, prefix: "sw_node_", claims: {} as never, maxCharacters: 300 }).sign({
      id: randomUUID(),
      ...given,
    } as never);
  const until = PASS_LIFETIME_MS;

  test.each([
    ["no pass", {}],
    ["an invalid pass", { authorization: "Bearer sw_node_x.y" }],
    ["an API key", { authorization: `Bearer sw_live_${"a".repeat(40)}` }],
    ["a pass of another installation", { authorization: `Bearer ${passOf("another secret", { venue: "live", until })}` }],
    ["a token signed for another purpose", { authorization: `Bearer ${passOf(SECRET, { venue: "live", until }, "tickets")}` }],
    ["an expired pass", { authorization: `Bearer ${passOf(SECRET, { venue: "live", until: 0 })}` }],
    ["an unknown venue", { authorization: `Bearer ${passOf(SECRET, { venue: "paper" as Venue, until })}` }],
  ])("the endpoint for forwarded ticks refuses %s", async (_name, headers) => {
    const { ticks, push } = taking();
    const holder = await openNode({ live: push, sandbox: push });
    const response = await fetch(holder.address + FORWARDED_TICKS_PATH, { method: "POST", headers, body: line(1) });
    expect([response.status, await response.json()]).toMatchObject([401, { code: 40101, message: "unauthorized" }]);
    expect(ticks).toEqual([]);
  });

  test("a forwarding pass is valid only for its venue, and for a minute", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    await expect(asked.forward({ venue: "sandbox", tickers: [] }, holder.address, bodyOf([line(1)]))).rejects.toMatchObject(
      NOBODY,
    );
    holder.clock.set(PASS_LIFETIME_MS - 1);
    expect(await asked.forward(LIVE, holder.address, bodyOf([line(1)]))).toMatchObject({ accepted: 1 });
    holder.clock.set(PASS_LIFETIME_MS);
    await expect(asked.forward(LIVE, holder.address, bodyOf([line(1)]))).rejects.toMatchObject(NOBODY);
    expect(ticks).toHaveLength(1);
  });

  test("a request that was recorded is refused when it is sent again, and when its body is changed", async () => {
    const { ticks, push } = taking();
    const [asked, holder] = [await openNode(), await openNode({ live: push })];
    const recorded: { headers: Record<string, string>; body: Buffer }[] = [];
    const recorder = await listen(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      recorded.push({ headers: { authorization: request.headers.authorization ?? "" }, body: Buffer.concat(chunks) });
      response.destroy();
    });
    for (const _request of [1, 2])
      await expect(asked.forward(LIVE, recorder, bodyOf([line(1), line(3)]))).rejects.toMatchObject(NOBODY);
    const [one, two] = recorded;
    const send = async (headers: Record<string, string> = {}, body: Buffer = Buffer.alloc(0)) => {
      const response = await fetch(holder.address + FORWARDED_TICKS_PATH, {
        method: "POST",
        headers,
        body: new Uint8Array(body),
      });
      return ((await response.json()) as { code: number }).code;
    };
    expect(await send(one?.headers, one?.body)).toBe(0);
    expect(await send(one?.headers, one?.body)).toBe(40101);
    // The second pass with the body of the first.
    expect(await send(two?.headers, one?.body)).toBe(40001);
    expect(await send(two?.headers, two?.body)).toBe(40101);
    expect(ticks.map(({ bid }) => bid)).toEqual([1, 3]);
  });

  test("a rejected forwarding pass is not reported to the feeder, and the request id is kept", async () => {
    const holder = await openNode({ live: taking().push }, { secret: "another installation's" });
    await expect((await openNode()).forward(LIVE, holder.address, bodyOf([line(1)]))).rejects.toMatchObject(NOBODY);
    const response = await fetch(holder.address + FORWARDED_TICKS_PATH, { method: "POST", headers: { "x-request-id": "req_7" } });
    expect(response.headers.get("x-request-id")).toBe("req_7");
  });
});
