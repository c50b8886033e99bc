import { describe, expect, test } from "vitest";
import { quoteExample } from "#lib/contract/quote";
import { topicOf } from "#server/hub/hub";
import { type Outgoing, updateOf } from "#server/hub/outgoing";
import { FrameJoiner } from "#server/socket/frames";
import { eventOf } from "#server/testing/events";
import { type Complaints, VirtualClient } from "./client";
import { report } from "./report";
import { simulate } from "./simulation";
import { CORE_LOAD_MAX, sizeFor } from "./sizing";

const SMALL = {
  tickers: 4,
  ticksPerSecond: 20,
  clients: 6,
  subscriptions: 2,
  stream: "quote",
  slow: 0,
  seconds: 3,
  edges: 2,
} as const;
const TARGET = { connections: 1_000_000, messageUs: undefined, followUs: undefined, connectionBytes: undefined };
const RIGHT = { count: 0, examples: [] };
const KEEPS_UP = Number.POSITIVE_INFINITY;

describe("a simulated market", () => {
  test("clients that keep up receive every record of their topics once, in order", () => {
    const { counts, complaints } = simulate(SMALL);
    expect(complaints).toEqual(RIGHT);
    expect(counts.ticks).toBe(4 * 20 * 3);
    expect(counts.events).toBe(counts.ticks * 11);
    expect(counts.messages).toBe(6 * 2 * 20 * 3);
    expect(counts).toMatchObject({ merged: 0, closed: 0, queuedBytes: 0 });
  });

  test("slow clients miss only records that merged records announce", () => {
    const { counts, complaints } = simulate({
      ...SMALL,
      ...{ ticksPerSecond: 200, clients: 4, subscriptions: 4, slow: 0.5, seconds: 12 },
    });
    expect(complaints).toEqual(RIGHT);
    expect(counts.queuedBytes).toBeGreaterThan(0);
    expect(counts.merged).toBeGreaterThan(0);
    expect(counts.messages + counts.merged).toBe(4 * 4 * 200 * 12);
    expect(counts.closed).toBe(0);
  });

  test("closed klines are delivered, and the klines after them continue the sequence", () => {
    const { counts, complaints } = simulate({ ...SMALL, stream: "kline", ticksPerSecond: 2, seconds: 65 });
    expect(complaints).toEqual(RIGHT);
    // Only one M1 kline closes per ticker; klines of M5 and longer stay open.
    expect(counts.events - counts.ticks * 11).toBe(4);
    expect(counts.messages).toBe(6 * 2 * (2 * 65 + 1));
  });

  test("a simulation counts the same in every run, and what an edge receives does not depend on the number of edges", () => {
    const counts = simulate(SMALL).counts;
    expect(simulate(SMALL).counts).toEqual(counts);
    expect(simulate({ ...SMALL, edges: 3 }).counts).toEqual(counts);
  });
});

describe("a virtual client", () => {
  const TOPIC = topicOf("quote", "EURUSD");
  const quote = (seq: number, merged = 0): Outgoing =>
    updateOf({ ...eventOf(quoteExample, { seq }), topic: TOPIC.name, ...(merged > 0 && { merged }) }, "json");

  function complaintsOf(speed: number, last: number, ...messages: Outgoing[]): string[] {
    const complaints: Complaints = { count: 0, examples: [] };
    const client = new VirtualClient("one", [TOPIC], speed, new FrameJoiner());
    for (const message of messages) client.write([message]);
    client.check(complaints);
    client.finish(() => last, complaints);
    return complaints.examples;
  }

  test("a virtual client accepts all records, or newer ones with a merged count", () => {
    expect(complaintsOf(KEEPS_UP, 2, quote(1), quote(2))).toEqual([]);
    expect(complaintsOf(1, 5, quote(1), quote(5, 3))).toEqual([]);
  });

  test("a virtual client reports a gap, a duplicate, a needless merge, and a missing end", () => {
    expect(complaintsOf(KEEPS_UP, 3, quote(1), quote(3))[0]).toBe("one got quote:EURUSD 3 (merged 0) after 1");
    expect(complaintsOf(KEEPS_UP, 1, quote(1), quote(1))[0]).toBe("one got quote:EURUSD 1 (merged 0) after 1");
    expect(complaintsOf(KEEPS_UP, 2, quote(2, 1))[0]).toBe("one keeps up, but got quote:EURUSD 2 in place of 1 others");
    expect(complaintsOf(1, 2, quote(1))[0]).toBe("one ended at quote:EURUSD 1, but 2 were published");
  });

  test("a virtual client accepts no more than a socket's buffer until it reads", () => {
    const client = new VirtualClient("slow", [TOPIC], 10_000, new FrameJoiner());
    for (let seq = 1; client.ready(); seq += 1) client.write([quote(seq)]);
    expect(client.bytes).toBeGreaterThanOrEqual(65_536);
    expect(client.read(0)).toBe(false);
    expect(client.read(1)).toBe(true);
    expect(client.progress()).toBe(10_000);
  });
});

describe("the arithmetic", () => {
  const result = {
    scene: SMALL,
    counts: { ...simulate(SMALL).counts, ticks: 240, messages: 720, clientBytes: 144_000, busBytes: 240_000, stateBytes: 24_000 },
    costs: {
      engineUs: 2_400,
      encodeUs: 2_400,
      decodeUs: 4_800,
      followUs: 4_800,
      fanoutUs: 720,
      bytesPerClient: 1_000,
      bytesPerTicker: 500,
    },
    complaints: RIGHT,
  };

  test("sizing fills a core up to its allowed load", () => {
    // 80 ticks a second at 20 µs to follow; 40 messages a second and client at 1 µs.
    const sizing = sizeFor(result, TARGET);
    expect(sizing.followLoad).toBeCloseTo(0.0016);
    expect(sizing.clientsPerEdge).toBe(Math.floor((CORE_LOAD_MAX - 0.0016) * 25_000));
    expect(sizing.edges).toBe(Math.ceil(1_000_000 / sizing.clientsPerEdge));
    expect(sizing.networkBytesPerSecond).toBe(1_000_000 * 40 * 200);
    expect(sizing.redisOutBytesPerSecond).toBeCloseTo(80_000 * (sizing.edges + 2));
    expect(sizing.redisReadsPerSecond).toBeCloseTo((result.counts.batches / 3) * (sizing.edges + 2));
    expect(sizing.ticksPerSecondMax).toBeCloseTo((CORE_LOAD_MAX * 1e6) / 40);
    expect(sizing.memoryPerEdgeBytes).toBeCloseTo((1_000_000 / sizing.edges) * 1_000 + 4 * 500);
  });

  test("sizing prefers costs measured with sockets", () => {
    const target = { connections: 1_000_000, messageUs: 2, followUs: 20, connectionBytes: 6_000 };
    const sizing = sizeFor(result, target);
    expect(sizing.clientsPerEdge).toBe(Math.floor((CORE_LOAD_MAX - 0.0016) * 12_500));
    expect(report(result, sizing, target)).toContain("per second at 2.00 µs (as given)");
  });

  test("sizing says when one core cannot even follow the events", () => {
    const busy = { ...result, costs: { ...result.costs, decodeUs: 4_800_000 } };
    const sizing = sizeFor(busy, TARGET);
    expect(sizing.clientsPerEdge).toBe(0);
    expect(report(busy, sizing, TARGET)).toContain("no number is enough");
  });
});
