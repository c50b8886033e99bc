import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { manualClock, systemClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import type { MarketEvent } from "#server/events/event";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { emptyProjection, leaderOf, SOON } from "#server/testing/log-scene";
import { newestRecords } from "#server/view/newest";
import { createCursor } from "./cursor";
import { createSocketLog, type SocketLine } from "./socket-log";
import { toRow } from "./wire";

const quotes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => eventOf({ ...quoteExample, bid: from + index }, { seq: from + index }));
const TOPIC = eventOf(quoteExample).topic;
const socketPath = () => path.join(tmpdir(), `spotwire-log-${randomUUID()}.sock`);

/** A leader, and processes that follow it. */
async function openScene({ queueMaxBytes = 1_000_000 } = {}) {
  const file = socketPath();
  const projection = emptyProjection();
  let cut = 0;
  const log = createSocketLog({ path: file, clock: systemClock, queueMaxBytes, onTooSlow: () => (cut += 1) });
  const tickers = createSandboxCatalogue()
    .list()
    .map(({ ticker }) => ticker);
  const { view, recent } = projection;
  const newest = () => newestRecords({ view, recent, epoch: recent.epoch(), tickers });
  const appender = await log.lead(leaderOf({ newest }));
  onTestFinished(() => appender.stop());
  // As in the market process, view and recent events have what is appended.
  projection.follow((events) => appender.append(events, 0));
  return {
    appender,
    projection,
    path: file,
    append: projection.apply,
    cut: () => cut,
    async follow() {
      const cursor = createCursor(emptyProjection());
      const events: MarketEvent[] = [];
      cursor.projection.follow((batch) => events.push(...batch));
      const follower = log.follow(cursor);
      onTestFinished(() => follower.stop());
      await follower.begun;
      return { follower, projection: cursor.projection, events };
    },
  };
}

test("a worker that starts late has the newest records and the sequences, and clients resume on it without a gap", async () => {
  const { append, projection, follow } = await openScene();
  append(quotes(1, 40));
  append([eventOf(snapshotExample, { seq: 1 }), eventOf(klineExample, { seq: 7, closed: true })]);
  const late = await follow();
  expect(late.events).toEqual([]);
  const { view, recent } = late.projection;
  expect(view.quote(quoteExample.ticker)).toEqual(projection.view.quote(quoteExample.ticker));
  expect(view.snapshot(snapshotExample.ticker)).toEqual(snapshotExample);
  expect(view.recentKlines(klineExample.ticker, klineExample.timeframe)).toEqual([klineExample]);
  expect(recent.epoch()).toBe(TEST_EPOCH);
  expect(recent.since(TOPIC, TEST_EPOCH, 12)).toEqual(projection.recent.since(TOPIC, TEST_EPOCH, 12));
  expect(recent.since(TOPIC, TEST_EPOCH, 12)).toHaveLength(28);
  append(quotes(41, 45));
  await vi.waitUntil(() => late.events.length === 5, SOON);
  expect(recent.since(TOPIC, TEST_EPOCH, 12)).toHaveLength(33);
});

test("a worker that does not read is cut off instead of filling the memory, and the others stay", async () => {
  const { append, path: file, cut, follow } = await openScene({ queueMaxBytes: 200_000 });
  const reading = await follow();
  const stuck = connect(file).pause();
  const ended = new Promise((resolve) => stuck.once("close", resolve));
  let seq = 0;
  while (cut() === 0) {
    append(quotes(seq + 1, seq + 500));
    seq += 500;
    // A busy machine must not make this one slow, too.
    await vi.waitUntil(() => reading.events.length === seq, SOON);
  }
  stuck.resume();
  await ended;
  expect(cut()).toBe(1);
  await vi.waitUntil(() => reading.events.length === seq, SOON);
});

test("a worker knows when the market process goes away", async () => {
  const { appender, follow } = await openScene();
  const { follower } = await follow();
  expect(follower.problem()).toBeNull();
  await appender.stop();
  expect(await follower.ended).toBe("the process that leads closed the connection");
});

/** A leader that says what the test gives it. */
async function script() {
  const file = socketPath();
  const server = createServer();
  const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
  server.listen(file);
  await once(server, "listening");
  const clock = manualClock(0);
  const cursor = createCursor(emptyProjection());
  const follower = createSocketLog({ path: file, clock }).follow(cursor);
  const socket = await connected;
  onTestFinished(async () => {
    await follower.stop();
    socket.destroy();
    server.close();
  });
  function say({ header, ...line }: Partial<Omit<SocketLine, "header">> & { readonly header?: Partial<SocketLine["header"]> }) {
    const whole = { token: 1, n: 0, ...leaderOf().standing(), ...header };
    socket.write(`${JSON.stringify({ header: whole, rows: [], ...line })}\n`);
  }
  say({ newest: "last" });
  await follower.begun;
  return { clock, cursor, follower, say };
}

test("an entry that is missing ends the connection: nothing is skipped in silence", async () => {
  const { follower, cursor, say } = await script();
  for (const n of [1, 2, 4]) say({ header: { n }, rows: [toRow(eventOf(quoteExample, { seq: n }))] });
  expect(await follower.ended).toBe("entry 4 follows entry 2");
  expect(cursor.projection.recent.seq(TOPIC)).toBe(2);
});

test("a leader that says nothing for seconds is a problem, until it is heard again; so is what it lacks itself", async () => {
  const { clock, cursor, follower, say } = await script();
  clock.set(4_000);
  expect(follower.problem()).toBe("no events from the market process for 4 s");
  say({ header: { n: 1, problem: "no ticks" } });
  await vi.waitUntil(() => cursor.header()?.n === 1, SOON);
  expect([follower.problem(), follower.standing()?.problem]).toEqual([null, "no ticks"]);
  say({ header: { n: 1, away: "Redis is unreachable" } });
  await vi.waitUntil(() => follower.problem() === "Redis is unreachable", SOON);
});
