import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import { type RedisNodes, redisDescribe } from "#lib/testing/redis-nodes";
import type { MarketEvent } from "#server/events/event";
import { createMemoryBus } from "#server/events/memory-bus";
import { caughtUp, followVenue, publishVenue, SOON } from "#server/testing/bus-scene";
import { eventOf } from "#server/testing/events";
import { openLocalBus } from "#server/testing/local-bus";

/** A subscriber that receives the events published after its creation. */
interface Heard {
  readonly events: readonly MarketEvent[];
  end(): Promise<void>;
}

/** A carrier of events from one engine to many subscribers. */
interface Carrier {
  publish(events: readonly MarketEvent[]): void;
  follow(): Promise<Heard>;
  /** Resolves when every subscriber has received what was published. */
  settled(): Promise<void>;
}

async function memoryCarrier(): Promise<Carrier> {
  const bus = createMemoryBus();
  return {
    publish: bus.publish,
    async follow() {
      const events: MarketEvent[] = [];
      const end = bus.subscribe((batch) => events.push(...batch));
      return { events, end: async () => end() };
    },
    settled: async () => undefined,
  };
}

async function redisCarrier(nodes: RedisNodes): Promise<Carrier> {
  const sender = await nodes.open();
  const prefix = /^\{(.*):live\}/.exec(sender.key("live", ""))?.[1];
  const publisher = publishVenue(sender);
  const following = new Set<ReturnType<typeof followVenue>>();
  return {
    publish: (events) => publisher.publish(events, 0),
    async follow() {
      const node = followVenue(await nodes.open(prefix));
      await node.follower.begun;
      following.add(node);
      return {
        events: node.events,
        async end() {
          following.delete(node);
          await node.pause();
        },
      };
    },
    async settled() {
      await vi.waitUntil(() => publisher.published(), SOON);
      for (const node of following) await caughtUp(node);
    },
  };
}

async function localCarrier(): Promise<Carrier> {
  const { publisher, follow } = await openLocalBus();
  const following = new Set<Awaited<ReturnType<typeof follow>>>();
  return {
    publish: (events) => publisher.publish("live", events),
    async follow() {
      const worker = await follow();
      following.add(worker);
      return {
        events: worker.events,
        async end() {
          following.delete(worker);
          worker.follower.stop();
        },
      };
    },
    async settled() {
      const position = publisher.position();
      await vi.waitUntil(() => [...following].every(({ follower }) => follower.position() >= position), SOON);
    },
  };
}

const TOPICS = [
  quoteExample,
  { ...quoteExample, ticker: "GBPUSD" },
  snapshotExample,
  klineExample,
  { ...klineExample, timeframe: "M1" as const },
];

/** Events of several topics, each with its own sequence. */
function createSequences() {
  const last = new Map<number, number>();
  return (picks: readonly number[]) =>
    picks.map((pick) => {
      const seq = (last.get(pick) ?? 0) + 1;
      last.set(pick, seq);
      return eventOf(TOPICS[pick] ?? quoteExample, { seq, closed: seq % 3 === 0 });
    });
}

const RUNS = { numRuns: 15 };
const batches = fc.array(fc.array(fc.nat(TOPICS.length - 1), { maxLength: 40 }), { maxLength: 12 });

/** What every bus guarantees. */
function busSuite(open: () => Promise<Carrier>): void {
  test("a bus delivers every event to each follower once, in the order of publication", async () => {
    const carrier = await open();
    const [one, other] = [await carrier.follow(), await carrier.follow()];
    const next = createSequences();
    const published: MarketEvent[] = [];
    await fc.assert(
      fc.asyncProperty(batches, async (picked) => {
        for (const picks of picked) {
          const events = next(picks);
          published.push(...events);
          carrier.publish(events);
        }
        await carrier.settled();
        expect(one.events).toEqual(published);
        expect(other.events).toEqual(published);
      }),
      RUNS,
    );
    expect(published.length).toBeGreaterThan(100);
  });

  test("a bus does not block the publisher: events may reach followers later", async () => {
    const carrier = await open();
    const heard = await carrier.follow();
    const next = createSequences();
    const published = Array.from({ length: 200 }, () => next([0, 1, 2]));
    // One turn of the event loop: the publisher cannot have waited for a subscriber.
    for (const events of published) carrier.publish(events);
    await carrier.settled();
    expect(heard.events).toEqual(published.flat());
  });

  test("a late follower receives everything published from then on, in order and once", async () => {
    const carrier = await open();
    const early = await carrier.follow();
    const next = createSequences();
    const before = next([0, 1, 2, 3, 4, 0, 0]);
    carrier.publish(before);
    await carrier.settled();
    const late = await carrier.follow();
    const after = next([0, 1, 2, 3, 4]);
    carrier.publish(after);
    await carrier.settled();
    // Later events may be delivered as well: the newest records in a shared store are up to half a second old.
    expect(late.events.slice(-after.length)).toEqual(after);
    expect(late.events).toEqual([...before, ...after].slice(-late.events.length));
    expect(early.events).toEqual([...before, ...after]);
  });

  test("a follower that unsubscribes receives no more events, and the others continue", async () => {
    const carrier = await open();
    const [one, other] = [await carrier.follow(), await carrier.follow()];
    const next = createSequences();
    const first = next([0, 1]);
    carrier.publish(first);
    await carrier.settled();
    await one.end();
    const second = next([0, 1]);
    carrier.publish(second);
    await carrier.settled();
    expect(one.events).toEqual(first);
    expect(other.events).toEqual([...first, ...second]);
  });

  test("a bus delivers nothing for a publication without events", async () => {
    const carrier = await open();
    const heard = await carrier.follow();
    carrier.publish([]);
    await carrier.settled();
    expect(heard.events).toEqual([]);
  });
}

describe("the bus in memory", () => busSuite(memoryCarrier));
describe("the bus from the market process to its edge workers", () => busSuite(localCarrier));

const withRedis = await redisDescribe();
withRedis("the bus through Redis", (nodes) => busSuite(() => redisCarrier(nodes)));
