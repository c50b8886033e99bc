import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import type { KlineMessage } from "#lib/contract/stream";
import { fail, type Peer, type ScriptedService, startScriptedService, succeed } from "#lib/testing/scripted-service";
import { type Driver, startDriver } from "./driver";
import { builtSources, withPackages } from "./pythons";

/** The demo key of every installation. */
const KEY = "sw_test_DEMOkeyOfSpotwireForEveryone000ID0Y9";
/** The first wait of a reconnect, with the random of these tests. */
const FIRST_BACKOFF_S = 0.25;
/** The wait before a recovery. */
const SETTLED_AFTER_S = 3;
const MINUTE = 1_767_225_600;
const row = (n: number, close = 1.1) => ({ ...klineExample, timeframe: "M1" as const, time: MINUTE + n * 60, close });
const kline = (n: number, seq: number, more: Partial<KlineMessage> = {}): KlineMessage => ({
  type: "kline",
  event: "update",
  ticker: "EURUSD",
  timeframe: "M1",
  epoch: "e1",
  seq,
  closed: false,
  data: row(n),
  ...more,
});
const page = (rows: readonly object[], next_from: number | null = null) => succeed({ items: rows, next_from });
const KLINES = { name: "klines", stream: "kline", tickers: ["EURUSD"], timeframe: "M1" };

let built: Awaited<ReturnType<typeof builtSources>>;
let missing = "";
let driver: Driver;
let service: ScriptedService;
beforeAll(async () => {
  built = await builtSources();
  const python = withPackages(built.sources);
  if ("missing" in python) missing = python.missing;
  else driver = startDriver(python);
});
afterAll(() => {
  driver?.stop();
  built?.remove();
});
beforeEach(async ({ skip }) => {
  skip(missing !== "", missing);
  service = await startScriptedService();
  driver.clear();
});
afterEach(async () => {
  await driver?.run("reset");
  await service?.stop();
});

/** A stream of klines that has the first minute closed and the second one open, after its connection was cut. */
async function away({ key = KEY, tickets = false, ...options }: Record<string, unknown> = {}): Promise<Peer> {
  await driver.run("open", { url: service.url, ...(tickets ? { tickets } : { key }) });
  await driver.run("stream", options);
  await driver.run("subscribe", KLINES);
  const first = await service.welcomed();
  await first.ack();
  first.send(kline(0, 1, { event: "snapshot" }));
  first.send(kline(1, 2));
  first.send(kline(0, 3, { closed: true }));
  for (let n = 0; n < 3; n += 1) await driver.events.record.next();
  first.cut();
  await driver.pass(FIRST_BACKOFF_S);
  const second = await service.welcomed();
  await second.ack();
  return second;
}

/** Resolves once the client has read what was sent to it before. */
async function answered(peer: Peer): Promise<void> {
  await driver.run("subscribe", { name: "marker", stream: "quote", tickers: ["EURUSD"] });
  await peer.ack();
  await driver.run("ready", { name: "marker" });
}

/** The next record, in short. */
async function shown(): Promise<string> {
  const { data, closed, recovered, epoch, merged } = (await driver.events.record.next()) as unknown as KlineMessage & {
    recovered?: true;
  };
  const words = [(data.time - MINUTE) / 60, closed && "closed", recovered && "recovered", merged && `merged ${merged}`, epoch];
  return words.filter((word) => word !== undefined && word !== false).join(" ");
}

test("missed klines are read over REST and delivered once each, in order, before what showed it and came meanwhile", async () => {
  const peer = await away();
  service.answer(({ query }) =>
    query.get("from") === String(row(3).time) ? page([row(3), row(4), row(5)]) : page([row(1), row(2)], row(3).time),
  );
  peer.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
  peer.send(kline(5, 2, { epoch: "e2", data: row(5, 1.2) }));
  peer.send(kline(5, 3, { epoch: "e2", data: row(5, 1.3) }));
  peer.send(kline(4, 4, { epoch: "e2", closed: true }));
  await driver.waitingFor(SETTLED_AFTER_S);
  await answered(peer);
  await driver.pass(SETTLED_AFTER_S);
  const got: string[] = [];
  for (let n = 0; n < 6; n += 1) got.push(await shown());
  expect(got).toEqual([
    "1 closed recovered e2",
    "2 closed recovered e2",
    "3 closed recovered e2",
    "5 e2",
    "5 merged 1 e2",
    "4 closed e2",
  ]);
  expect(service.requests.map(({ query }) => [query.get("from"), query.get("to"), query.get("limit")])).toEqual([
    [String(row(0).time + 1), String(row(5).time), "5000"],
    [String(row(3).time), String(row(5).time), "5000"],
  ]);
  peer.send(kline(5, 5, { epoch: "e2", closed: true }));
  expect(await shown()).toBe("5 closed e2");
  expect([driver.events.gap.size, driver.events.error.size]).toEqual([0, 0]);
});

test("klines are not asked for when none can have closed, and that is no gap", async () => {
  const peer = await away();
  peer.send(kline(1, 1, { epoch: "e2", event: "snapshot" }));
  expect(await shown()).toBe("1 e2");
  expect([service.requests.length, driver.events.gap.size]).toEqual([0, 0]);
});

test("a correction that arrives first does not hide that klines closed", async () => {
  const peer = await away();
  service.answer(() => page([row(1)]));
  peer.send(kline(0, 1, { epoch: "e2", event: "correction", closed: true }));
  peer.send(kline(2, 2, { epoch: "e2" }));
  await driver.pass(SETTLED_AFTER_S);
  expect([await shown(), await shown(), await shown()]).toEqual(["0 closed e2", "1 closed recovered e2", "2 e2"]);
});

test("a correction that waits does not replace the close of its kline", async () => {
  const peer = await away();
  service.answer(() => page([row(1)]));
  peer.send(kline(2, 1, { epoch: "e2", event: "snapshot" }));
  peer.send(kline(1, 2, { epoch: "e2", event: "correction", closed: true }));
  await driver.waitingFor(SETTLED_AFTER_S);
  await answered(peer);
  await driver.pass(SETTLED_AFTER_S);
  expect([await shown(), await shown(), await shown()]).toEqual(["1 closed recovered e2", "2 e2", "1 closed e2"]);
});

test("without recovery, what a correction revealed is one gap", async () => {
  const peer = await away({ recover: false });
  peer.send(kline(0, 1, { epoch: "e2", event: "correction", closed: true }));
  peer.send(kline(5, 2, { epoch: "e2" }));
  expect([await shown(), await shown()]).toEqual(["0 closed e2", "5 e2"]);
  expect(driver.events.gap.size).toBe(1);
});

test("klines are read too when a resume of the same epoch came too late", async () => {
  const peer = await away();
  service.answer(() => page([row(1), row(2)]));
  peer.send(kline(3, 900, { event: "snapshot" }));
  await driver.pass(SETTLED_AFTER_S);
  expect([await shown(), await shown(), await shown()]).toEqual(["1 closed recovered e1", "2 closed recovered e1", "3 e1"]);
  expect(driver.events.gap.size).toBe(0);
});

test.each([
  ["the key may not read", fail("insufficient_scope"), "insufficient_scope"],
  ["a page never gets further", page([], row(0).time), "bad_answer"],
])("klines that cannot be read are an error and a gap, and the stream goes on: %s", async (_title, answer, id) => {
  const peer = await away();
  service.answer(() => answer);
  peer.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
  await driver.pass(SETTLED_AFTER_S);
  expect(await driver.events.gap.next()).toMatchObject({ stream: "kline", timeframe: "M1", epoch: "e2", expected: null });
  expect((await driver.events.error.next()).id).toBe(id);
  expect(await shown()).toBe("5 e2");
});

test.each([
  ["the stream does not recover", { recover: false }],
  ["the client has no key", { tickets: true }],
])("missed klines are a gap when %s", async (_title, options) => {
  const peer = await away(options);
  peer.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
  expect(await driver.events.gap.next()).toMatchObject({ stream: "kline", epoch: "e2", expected: null, received: 1 });
  expect(await shown()).toBe("5 e2");
  expect(service.requests).toHaveLength(0);
});

test("a stream that recovers more than a thousand waiting records gives up with a gap and delivers them", async () => {
  const peer = await away();
  service.answer(() => page([row(1)]));
  peer.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
  for (let n = 0; n < 1_001; n += 1) peer.send(kline(0, n + 2, { epoch: "e2", event: "correction", closed: true }));
  await driver.waitingFor(SETTLED_AFTER_S);
  await answered(peer);
  await driver.pass(SETTLED_AFTER_S);
  expect(await driver.events.gap.next()).toMatchObject({ epoch: "e2", expected: null });
  expect((await driver.events.error.next()).id).toBe("queue_full");
  expect([await shown(), await shown()]).toEqual(["5 e2", "0 closed e2"]);
});

test("the end of a stream ends its recovery, and leaves no timer", async () => {
  const peer = await away();
  service.answer(() => "hang");
  peer.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
  await driver.waitingFor(SETTLED_AFTER_S);
  await driver.run("close");
  await driver.run("closed");
  expect([driver.events.record.size, driver.events.gap.size, driver.waits]).toEqual([0, 0, []]);
});

test("a subscription that ends is not recovered, and one that is made again starts fresh at once", async () => {
  const peer = await away();
  service.answer(() => page([row(1)]));
  peer.send(kline(5, 1, { epoch: "e2", event: "snapshot" }));
  await driver.waitingFor(SETTLED_AFTER_S);
  await driver.run("unsubscribe", { name: "klines" });
  await driver.run("subscribe", KLINES);
  for (let n = 0; n < 2; n += 1) await peer.ack();
  peer.send(kline(6, 2, { epoch: "e2", event: "snapshot" }));
  expect(await shown()).toBe("6 e2");
  await driver.pass(SETTLED_AFTER_S);
  // The answer to a call that began later comes after what the recovery would have read.
  await driver.call("klines", ["EURUSD", "M1"]);
  peer.send(kline(6, 3, { epoch: "e2", closed: true }));
  expect(await shown()).toBe("6 closed e2");
  expect(driver.events.gap.size).toBe(0);
});
