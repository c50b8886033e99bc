import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TRANSPORTS } from "#lib/testing/stream-client";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

let t: StreamService;
beforeAll(async () => {
  t = await startStreamService();
});
afterAll(() => t.close());

describe.each(TRANSPORTS)("use of streams over %s", (transport) => {
  /** The counters of a key so far, for the day. */
  async function usedBy(keyId: string) {
    await t.usage.flush();
    return t.db.prisma.streamUsageBucket.findFirst({ where: { keyId, grain: "day" } });
  }

  test("connections, new subscriptions and messages are counted per key, over all of its connections", async () => {
    const { text: key, record } = await t.issueKey();
    const one = await t.connect({ transport, key });
    const two = await t.connect({ transport, key });
    await one.ask("subscribe", { stream: "quote", tickers: ["EURUSD", "GBPUSD"], snapshot: false });
    await one.ask("subscribe", { stream: "quote", tickers: ["EURUSD", "NOPE"], snapshot: false });
    await two.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], snapshot: false });
    const before = await usedBy(record.id);
    expect(before).toMatchObject({ connections: 2n, subscriptions: 3n, merged: 0n });

    await t.advance(1_000, [one, two]);
    await t.tick("EURUSD", 1.1, 1.2);
    await Promise.all([one.next("quote"), two.next("quote")]);
    const after = await usedBy(record.id);
    expect(Number(after?.messages) - Number(before?.messages)).toBeGreaterThanOrEqual(2);
    await one.close();
    await two.close();
  });

  test("counting continues when a key reconnects, and the counts are stored by minute, hour and day", async () => {
    const { text: key, record } = await t.issueKey();
    await (await t.connect({ transport, key })).close();
    await usedBy(record.id);
    await (await t.connect({ transport, key })).close();
    expect(await usedBy(record.id)).toMatchObject({ connections: 2n, subscriptions: 0n });
    const rows = await t.db.prisma.streamUsageBucket.findMany({ where: { keyId: record.id }, orderBy: { grain: "asc" } });
    expect(rows.map(({ grain, connections }) => [grain, connections])).toEqual([
      ["day", 2n],
      ["hour", 2n],
      ["minute", 2n],
    ]);
  });
});
