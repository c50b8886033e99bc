import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { VENUES } from "#lib/contract/primitives";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import { SOON } from "#server/testing/bus-scene";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { openLocalBus, projectionOf } from "#server/testing/local-bus";
import { followLocally } from "./local-follower";
import type { LocalLine } from "./local-publisher";
import { toRow } from "./wire";

const quotes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => eventOf({ ...quoteExample, bid: from + index }, { seq: from + index }));
const TOPIC = eventOf(quoteExample).topic;

test("a worker that starts late has the newest records and the sequences, and clients resume on it without a gap", async () => {
  const { publisher, projection, follow } = await openLocalBus();
  publisher.publish("live", quotes(1, 40));
  publisher.publish("live", [eventOf(snapshotExample, { seq: 1 }), eventOf(klineExample, { seq: 7, closed: true })]);
  const late = await follow();
  expect(late.events).toEqual([]);
  const { view, recent } = late.projection;
  expect(view.quote(quoteExample.ticker)).toEqual(projection.view.quote(quoteExample.ticker));
  expect(view.snapshot(snapshotExample.ticker)).toEqual(snapshotExample);
  expect(view.recentKlines(klineExample.ticker, klineExample.timeframe)).toEqual([klineExample]);
  expect(recent.epoch()).toBe(TEST_EPOCH);
  expect(recent.since(TOPIC, TEST_EPOCH, 12)).toEqual(projection.recent.since(TOPIC, TEST_EPOCH, 12));
  expect(recent.since(TOPIC, TEST_EPOCH, 12)).toHaveLength(28);
  publisher.publish("live", quotes(41, 45));
  await vi.waitUntil(() => late.events.length === 5, SOON);
  expect(recent.since(TOPIC, TEST_EPOCH, 12)).toHaveLength(33);
});

test("a worker that does not read is cut off instead of filling the memory, and the others stay", async () => {
  const { publisher, path: file, cut, follow } = await openLocalBus({ queueMaxBytes: 200_000 });
  const reading = await follow();
  const stuck = connect(file).pause();
  const ended = new Promise((resolve) => stuck.once("close", resolve));
  let seq = 0;
  await vi.waitUntil(() => {
    publisher.publish("live", quotes(seq + 1, seq + 500));
    seq += 500;
    return cut() > 0;
  }, SOON);
  stuck.resume();
  await ended;
  expect(cut()).toBe(1);
  await vi.waitUntil(() => reading.events.length === seq, SOON);
});

test("a worker knows when the market process goes away, and why it is silent", async () => {
  const { publisher, follow } = await openLocalBus();
  const { follower } = await follow();
  expect(follower.problem("live")).toBeNull();
  await publisher.stop();
  expect(await follower.lost).toBe("the market process closed the connection");
});

/** A market process that says what the test gives it. */
async function script() {
  const file = path.join(tmpdir(), `spotwire-bus-${randomUUID()}.sock`);
  const server = createServer();
  const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
  server.listen(file);
  await once(server, "listening");
  const clock = manualClock(0);
  const projections = { live: projectionOf(), sandbox: projectionOf() };
  const follower = followLocally({ path: file, projections, clock });
  const socket = await connected;
  onTestFinished(() => {
    follower.stop();
    socket.destroy();
    server.close();
  });
  const say = (line: Partial<LocalLine>) =>
    socket.write(`${JSON.stringify({ n: 0, venue: "live", epoch: TEST_EPOCH, rows: [], reachedMs: 0, ...line })}\n`);
  for (const venue of VENUES) say({ venue, state: "last", status: { keepsTime: false, problem: null } });
  await follower.begun;
  return { clock, follower, projections, say };
}

test("a line that is missing ends the connection: nothing is skipped in silence", async () => {
  const { follower, projections, say } = await script();
  for (const n of [1, 2, 4]) say({ n, rows: [toRow(eventOf(quoteExample, { seq: n }))] });
  expect(await follower.lost).toBe("line 4 follows line 2");
  expect(projections.live.recent.seq(TOPIC)).toBe(2);
});

test("a market process that says nothing for seconds is a problem of the feed, until it speaks again", async () => {
  const { clock, follower, say } = await script();
  clock.set(4_000);
  expect(follower.problem("live")).toBe("no events from the market process for 4 s");
  say({ n: 1, status: { keepsTime: false, problem: "no ticks" } });
  await vi.waitUntil(() => follower.position() === 1, SOON);
  expect(follower.problem("live")).toBe("no ticks");
});
