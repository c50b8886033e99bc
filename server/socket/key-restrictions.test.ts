import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { TRANSPORTS } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { DAY_MS } from "#lib/units";
import { editKey } from "#server/store/access/keys";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

let t: StreamService;
beforeAll(async () => {
  t = await startStreamService();
});
afterAll(() => t.close());

describe.each(TRANSPORTS)("a restricted key over %s", (transport) => {
  const open = (key: string) => t.connect({ transport, key });
  const subscribe = async (key: string, tickers: string[]) => {
    const client = await open(key);
    return { client, ack: await client.ask("subscribe", { stream: "quote", tickers }) };
  };

  test("subscribes to its tickers; any other one is rejected on its own, whether or not it exists", async () => {
    const { text } = await t.issueKey({ tickers: ["EURUSD", "XAUUSD"] });
    const { client, ack } = await subscribe(text, ["XAUUSD", "GBPUSD", "XXXYYY", "eurusd"]);
    expect(ack).toMatchObject({
      data: {
        accepted: ["XAUUSD", "EURUSD"],
        rejected: [
          { ticker: "GBPUSD", code: 40401, message: "unknown_ticker" },
          { ticker: "XXXYYY", code: 40401, message: "unknown_ticker" },
        ],
      },
    });
    await client.close();
  });

  test("keeps an open connection while its tickers cover the subscriptions, and loses it when they no longer do", async () => {
    const { text, record } = await t.issueKey();
    const [first, second] = [await subscribe(text, ["EURUSD"]), await subscribe(text, ["EURUSD", "XAUUSD"])];
    await editKey(t.keyContext, record.id, { tickers: ["EURUSD"] });
    const error = await second.client.next("error");
    expect(error).toMatchObject({ message: "unknown_ticker", data: { close_code: 4403 } });
    await second.client.closed;
    await fence(first.client);
    await first.client.close();
  });

  test("opens as many connections as it may, and its account's other keys the rest", async () => {
    const settings = { account: `connections ${transport}`, plan: "standard" };
    const { text } = await t.issueKey({ ...settings, streamConnections: 2 });
    const { text: other } = await t.issueKey(settings);
    const own = [await open(text), await open(text)];
    expect(await own[0]?.next("welcome")).toMatchObject({ limits: { connections: 2 } });
    const refused = await t.refused({ transport, key: text });
    expect(refused.body).toMatchObject({ message: "too_many_connections", data: { max: 2 } });
    expect(refused.body.data.detail).toBe("This key allows 2 connections at a time.");
    const rest = [];
    for (let count = own.length; count < PLAN_DEFAULTS.standard.streamConnections; count += 1) rest.push(await open(other));
    const full = await t.refused({ transport, key: other });
    expect(full.body.data.detail).toBe('The plan "standard" allows 5 connections at a time.');
    await Promise.all([...own, ...rest].map((client) => client.close()));
    await vi.waitFor(async () => (await open(text)).close());
  });

  test("closes its newest connections when it gets a limit, and counts those that stay", async () => {
    const { text, record } = await t.issueKey({ plan: "standard" });
    const [kept, closed] = [await open(text), await open(text)];
    await editKey(t.keyContext, record.id, { streamConnections: 1 });
    expect(await closed.next("error")).toMatchObject({ message: "too_many_connections", data: { max: 1 } });
    await closed.closed;
    await fence(kept);
    expect((await t.refused({ transport, key: text })).body).toMatchObject({ message: "too_many_connections", data: { max: 1 } });
    await kept.close();
  });

  test("has as many subscriptions per connection as it may", async () => {
    const { text } = await t.issueKey({ subscriptionsPerConnection: 1 });
    const { client, ack } = await subscribe(text, ["EURUSD", "XAUUSD"]);
    expect(await client.next("welcome")).toMatchObject({ limits: { subscriptions: 1 } });
    const rejected = [{ ticker: "XAUUSD", message: "too_many_subscriptions" }];
    expect(ack).toMatchObject({ data: { accepted: ["EURUSD"], rejected } });
    await client.close();
  });

  test("opens no connection before it is valid, and loses open ones when its time is moved ahead", async () => {
    const notBefore = new Date(t.clock.now() + DAY_MS);
    const { text } = await t.issueKey({ notBefore });
    const refused = await t.refused({ transport, key: text });
    expect(refused.body).toMatchObject({ code: 40102, data: { not_before: notBefore.toISOString() } });
    const moved = await t.issueKey();
    const client = await open(moved.text);
    await editKey(t.keyContext, moved.record.id, { notBefore });
    expect(await client.next("error")).toMatchObject({ message: "unauthorized", data: { close_code: 4401 } });
    await client.closed;
  });
});
