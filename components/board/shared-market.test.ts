import { describe, expect, test } from "vitest";
import type { Kline } from "#lib/contract/kline";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Feed } from "./feed";
import { joinMarket, type MarketEvents, type MarketRecord, type PageMessage, type Sharing } from "./shared-market";
import type { Topic, Union } from "./wants";

const MAX = 20;
const price = (ticker: string, bid: number, ticks = 1): MarketRecord => ({
  stream: "snapshot",
  ticker,
  ticks,
  data: { ticker, bid } as Snapshot,
});
const kline = (time: number, removed = false): MarketRecord => ({
  stream: "kline",
  ticker: "EURUSD",
  timeframe: "M1",
  removed,
  data: { time } as Kline,
});

/** A connection that a page opened. */
interface Opened {
  readonly by: string;
  readonly events: MarketEvents;
  wanted: Union;
}

/** A browser: pages that hear each other, one lock, and the connections they opened. */
function createBrowser() {
  const listeners = new Map<string, (message: PageMessage) => void>();
  const queue: (() => void)[] = [];
  const open: Opened[] = [];
  let held = false;

  function next(): void {
    if (held) return;
    queue.shift()?.();
  }

  function sharingOf(id: string): Sharing {
    return {
      post(message) {
        for (const [other, listener] of [...listeners]) if (other !== id) listener(structuredClone(message));
      },
      listen(listener, signal) {
        listeners.set(id, listener);
        signal.addEventListener("abort", () => listeners.delete(id));
      },
      elect: (lead, signal) =>
        new Promise((resolve) => {
          queue.push(() => {
            if (signal.aborted) return next();
            held = true;
            signal.addEventListener("abort", () => {
              held = false;
              resolve();
              next();
            });
            lead(signal);
          });
          next();
        }),
    };
  }

  function visit(id: string, topics: readonly Topic[], sharing = sharingOf(id)) {
    const closing = new AbortController();
    const records: MarketRecord[] = [];
    const states: string[] = [];
    const feeds: Feed["by"][] = [];
    const member = joinMarket(
      {
        id,
        sharing,
        topicsMaxCount: MAX,
        open(events, signal) {
          const opened: Opened = { by: id, events, wanted: { followed: [], polled: [] } };
          open.push(opened);
          signal.addEventListener("abort", () => open.splice(open.indexOf(opened), 1));
          return {
            want(union) {
              opened.wanted = union;
            },
          };
        },
      },
      {
        onRecord: (record) => records.push(record),
        onStatus: ({ ticker, state }) => states.push(`${ticker} ${state}`),
        onFeed: ({ by }) => feeds.push(by),
        onAhead: () => undefined,
      },
      closing.signal,
    );
    member.want(topics);
    return {
      member,
      records,
      states,
      feeds,
      close: () => closing.abort(),
      /** The tab crashed: it says nothing, and the browser takes its lock away without its help. */
      mute: () => listeners.delete(id),
    };
  }

  const only = (): Opened => {
    expect(open).toHaveLength(1);
    return open[0] as Opened;
  };
  return { visit, only, open, sharingOf };
}

describe("pages in the same browser", () => {
  test("share one connection, which follows what all of them want", () => {
    const { visit, only } = createBrowser();
    visit("a", ["snapshot EURUSD"]);
    const b = visit("b", ["snapshot EURUSD", "kline EURUSD M1"]);
    visit("c", ["snapshot GBPUSD"]);
    expect(only().by).toBe("a");
    expect([...only().wanted.followed].sort()).toEqual(["kline EURUSD M1", "snapshot EURUSD", "snapshot GBPUSD"]);
    b.member.want([]);
    expect(only().wanted.followed).toEqual(["snapshot EURUSD", "snapshot GBPUSD"]);
  });

  test("get the records that they want, and no others", () => {
    const { visit, only } = createBrowser();
    const a = visit("a", ["snapshot EURUSD"]);
    const b = visit("b", ["snapshot GBPUSD"]);
    only().events.onRecord(price("EURUSD", 1));
    only().events.onRecord(price("GBPUSD", 2));
    expect(a.records).toEqual([price("EURUSD", 1)]);
    expect(b.records).toEqual([price("GBPUSD", 2)]);
  });

  test("get the latest record, the state and the feed at once when they join, and these do not count as ticks", () => {
    const { visit, only } = createBrowser();
    visit("a", ["snapshot EURUSD", "kline EURUSD M1"]);
    const { events } = only();
    events.onFeed({ by: "stream" });
    events.onStatus({ ticker: "EURUSD", state: "open", reason: null });
    events.onRecord(price("EURUSD", 1));
    events.onRecord(kline(120));
    events.onRecord(kline(60));
    const b = visit("b", ["snapshot EURUSD", "kline EURUSD M1"]);
    expect(b.records).toEqual([price("EURUSD", 1, 0), kline(120)]);
    expect(b.states).toContain("EURUSD open");
    expect(b.feeds).toEqual(["stream"]);
  });

  test("do not get a record that was followed earlier and is out of date", () => {
    const { visit, only } = createBrowser();
    const a = visit("a", ["snapshot EURUSD", "kline EURUSD M1"]);
    only().events.onRecord(kline(60));
    a.member.want(["snapshot EURUSD"]);
    const b = visit("b", ["kline EURUSD M1"]);
    expect(b.records).toEqual([]);
  });

  test("when the leader leaves, the next one connects for all, and charts learn that something may be missing", () => {
    const { visit, only } = createBrowser();
    const a = visit("a", ["snapshot EURUSD"]);
    const b = visit("b", ["snapshot GBPUSD"]);
    const c = visit("c", ["kline EURUSD M1"]);
    only().events.onFeed({ by: "stream" });
    a.close();
    expect(only().by).toBe("b");
    expect([...only().wanted.followed].sort()).toEqual(["kline EURUSD M1", "snapshot GBPUSD"]);
    expect(c.feeds).toEqual(["stream"]);
    only().events.onFeed({ by: "stream" });
    only().events.onRecord(kline(60));
    expect(c.feeds).toEqual(["stream", "page", "stream"]);
    expect(b.feeds).toEqual(["stream", "page", "stream"]);
    expect(c.records).toEqual([kline(60)]);
    b.close();
    c.close();
  });

  test("leave no connection and hear nothing after the last one left", () => {
    const { visit, only, open } = createBrowser();
    const a = visit("a", ["snapshot EURUSD"]);
    const { events } = only();
    a.close();
    events.onRecord(price("EURUSD", 1));
    expect(open).toEqual([]);
    expect(a.records).toEqual([]);
  });

  test("what a crashed page wanted is followed no longer", () => {
    const { visit, only } = createBrowser();
    const a = visit("a", ["snapshot EURUSD"]);
    visit("b", ["snapshot GBPUSD"]).mute();
    for (let beat = 0; beat < 5; beat += 1) a.member.beat();
    expect(only().wanted.followed).toEqual(["snapshot EURUSD"]);
  });

  test("more than the service lets a connection follow is polled", () => {
    const { visit, only } = createBrowser();
    visit("a", ["snapshot EURUSD", "snapshot GBPUSD", "snapshot XAUUSD"]);
    only().events.onMax(2);
    expect(only().wanted).toEqual({ followed: ["snapshot EURUSD", "snapshot GBPUSD"], polled: ["XAUUSD"] });
  });

  test("a page that hears nothing from its leader connects by itself, once", () => {
    const { visit, open } = createBrowser();
    const a = visit("a", ["snapshot EURUSD"]);
    const b = visit("b", ["snapshot GBPUSD"]);
    a.member.beat();
    for (let beat = 0; beat < 3; beat += 1) b.member.beat();
    expect(open.map(({ by }) => by)).toEqual(["a"]);
    for (let beat = 0; beat < 5; beat += 1) b.member.beat();
    expect(open.map(({ by }) => by)).toEqual(["a", "b"]);
    open[1]?.events.onRecord(price("GBPUSD", 2));
    expect(b.records).toEqual([price("GBPUSD", 2)]);
    expect(a.records).toEqual([]);
    expect(open[0]?.wanted.followed).toEqual(["snapshot EURUSD"]);
    b.close();
    expect(open.map(({ by }) => by)).toEqual(["a"]);
  });

  test("a page whose browser refuses the lock connects by itself", async () => {
    const { visit, sharingOf, only } = createBrowser();
    const refused = Promise.reject(new DOMException("Storage is blocked.", "SecurityError"));
    visit("a", ["snapshot EURUSD"], { ...sharingOf("a"), elect: () => refused });
    await refused.catch(() => undefined);
    expect(only().wanted.followed).toEqual(["snapshot EURUSD"]);
  });
});
