import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "#lib/clock";
import type { Control, ControlMessage } from "#lib/control";
import { createLog } from "#lib/log";
import { type BreakableProxy, proxyTo } from "#lib/testing/breakable-proxy";
import { findRedis, type RedisServer, startRedis } from "#lib/testing/redis-server";
import { inTransaction } from "#server/store/history/transaction";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { openDatabase } from "./db";
import { openRedis } from "./redis";
import { createRedisChannel } from "./redis-channel";

const log = createLog("silent");
const redisProgram = findRedis();

/** Collects messages and lets a test wait for the next one. */
function inbox() {
  const messages: ControlMessage[] = [];
  let wake = (): void => undefined;
  return {
    onMessage(message: ControlMessage) {
      messages.push(message);
      wake();
    },
    async next(): Promise<ControlMessage> {
      while (messages.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return messages.shift() as ControlMessage;
    },
  };
}

/** A channel on a real server. */
interface Subject {
  readonly url: string;
  /** The control of another node, which reaches the server at this URL. */
  node(url: string): Promise<Control>;
  /** The URL of the database whose transactions it announces. */
  database(): string;
  /** Sends a text on the channel, as any release might. */
  say(text: string): Promise<unknown>;
}

const notice = (number: number): ControlMessage => ({ kind: "keys", keyId: `k${number}` });

/** What both channels guarantee. */
function controlSuite(subject: () => Subject) {
  async function nodeBehindDoor(): Promise<{ node: Control; door: BreakableProxy }> {
    const door = await proxyTo(subject().url);
    await door.open();
    return { door, node: await subject().node(door.url) };
  }

  async function listening(node?: Control) {
    const box = inbox();
    const listener = await (node ?? (await subject().node(subject().url))).listen(box.onMessage);
    onTestFinished(() => listener.stop());
    return { ...box, listener };
  }

  test("control messages reach every listener in order", async () => {
    const [one, two, node] = [await listening(), await listening(), await subject().node(subject().url)];
    const sent: ControlMessage[] = [
      { kind: "keys", keyId: "k1" },
      { kind: "account", accountId: "a1" },
      { kind: "listings", venue: "live" },
      { kind: "calendars" },
      { kind: "klines", venue: "live", ticker: "EURUSD" },
    ];
    for (const message of sent) await node.publish(message);
    for (const message of sent) {
      expect(await one.next()).toEqual(message);
      expect(await two.next()).toEqual(message);
    }
    expect(node.pending()).toBe(0);
  });

  test("a control listener that lost its connection reports that everything may have changed, and receives messages again", async () => {
    const { node, door } = await nodeBehindDoor();
    const { next, listener } = await listening(node);
    expect(listener.connected()).toBe(true);
    door.shut();
    await expect.poll(() => listener.connected()).toBe(false);
    await door.open();
    expect(await next()).toEqual({ kind: "everything" });
    expect(listener.connected()).toBe(true);
    await (await subject().node(subject().url)).publish(notice(1));
    expect(await next()).toEqual(notice(1));
  });

  test("a silent connection is noticed within about a second, and the control listener receives messages again", async () => {
    const { node, door } = await nodeBehindDoor();
    const { next, listener } = await listening(node);
    door.silence();
    await expect.poll(() => listener.connected(), { timeout: 60_000 }).toBe(false);
    expect(await next()).toEqual({ kind: "everything" });
    expect(listener.connected()).toBe(true);
  });

  test("a control listener starts while the channel is unavailable, and reports that everything may have changed once it connects", async () => {
    const { node, door } = await nodeBehindDoor();
    door.shut();
    const { next, listener } = await listening(node);
    expect(listener.connected()).toBe(false);
    await door.open();
    expect(await next()).toEqual({ kind: "everything" });
    expect(listener.connected()).toBe(true);
  });

  test("control messages that could not be sent at once are sent later, in order", async () => {
    const { node, door } = await nodeBehindDoor();
    const { next } = await listening();
    door.shut();
    for (const number of [1, 2, 3]) await node.publish(notice(number));
    expect(node.pending()).toBe(3);
    await door.open();
    for (const number of [1, 2, 3]) expect(await next()).toEqual(notice(number));
    await expect.poll(() => node.pending()).toBe(0);
    await node.publish(notice(4));
    expect(await next()).toEqual(notice(4));
  });

  test("more than a hundred pending control messages are replaced by one that covers everything", async () => {
    const { node, door } = await nodeBehindDoor();
    const { next } = await listening();
    door.shut();
    for (let number = 1; number <= 100; number += 1) await node.publish(notice(number));
    expect(node.pending()).toBe(100);
    await node.publish(notice(101));
    expect(node.pending()).toBe(1);
    await node.publish(notice(102));
    await door.open();
    expect(await next()).toEqual({ kind: "everything" });
    expect(await next()).toEqual(notice(102));
  });

  test("publishing a control message on a silent network does not block", async () => {
    const { node, door } = await nodeBehindDoor();
    await node.publish(notice(1));
    door.silence();
    await node.publish(notice(2));
    expect(node.pending()).toBe(1);
    door.shut();
  });

  test("unknown control messages are ignored", async () => {
    const { next } = await listening();
    for (const text of ["", "not json", '{"kind":"from a newer release"}', '{"kind":"listings","venue":"moon"}'])
      await subject().say(text);
    await (await subject().node(subject().url)).publish({ kind: "calendars" });
    expect(await next()).toEqual({ kind: "calendars" });
  });

  test("a control listener stops at once, and then counts as disconnected", async () => {
    const { listener } = await listening();
    await listener.stop();
    expect(listener.connected()).toBe(false);
  });

  test("control messages of a transaction are sent once it is committed, in order, and none of one that is rolled back", async () => {
    const [{ next }, node] = [await listening(), await subject().node(subject().url)];
    const client = new pg.Client(subject().database());
    onTestFinished(() => client.end());
    await client.connect();
    await client.query("BEGIN");
    await node.publishWith(client, [notice(1)]);
    await client.query("ROLLBACK");
    await client.query("BEGIN");
    await node.publishWith(client, [notice(2), notice(3)]);
    // By the commit itself: a process that is killed right after it has told all others.
    await client.query("COMMIT");
    expect([await next(), await next()]).toEqual([notice(2), notice(3)]);
  });

  test("closing drops pending control messages", async () => {
    const { node, door } = await nodeBehindDoor();
    const { next } = await listening();
    door.shut();
    await node.publish(notice(1));
    node.close();
    await door.open();
    await (await subject().node(subject().url)).publish(notice(2));
    expect(await next()).toEqual(notice(2));
  });
}

describe("control channel in PostgreSQL", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.close());

  controlSuite(() => ({
    url: db.url,
    database: () => db.url,
    async node(url) {
      const opened = await openDatabase({ url, poolSize: 2, waitS: 5, clock: systemClock, log });
      onTestFinished(() => opened.close());
      return opened.control;
    },
    say: (text) => db.pool.query("SELECT pg_notify('spotwire_control', $1)", [text]),
  }));
});

describe.skipIf(redisProgram === undefined)("control channel in Redis (skipped where Redis cannot run)", () => {
  let server: RedisServer;
  let db: TestDatabase;
  beforeAll(async () => {
    server = await startRedis(redisProgram as string);
    db = await testDatabase();
  });
  afterAll(() => Promise.all([server.stop(), db.close()]));

  const redisAt = async (url: string, prefix = "test") => {
    const redis = openRedis({ url, prefix, log });
    onTestFinished(() => redis.close());
    await new Promise<void>((resolve) => redis.onReady(resolve));
    return redis;
  };
  const node = async (url: string, prefix?: string) => {
    const channel = createRedisChannel(await redisAt(url, prefix));
    const opened = await openDatabase({ url: db.url, poolSize: 2, waitS: 5, channel, clock: systemClock, log });
    onTestFinished(() => opened.close());
    return opened.control;
  };

  controlSuite(() => ({
    url: server.url,
    database: () => db.url,
    node,
    say: async (text) => (await redisAt(server.url)).client.publish("test:control", text),
  }));

  test("control messages do not reach another installation on the same server", async () => {
    const { onMessage, next } = inbox();
    const [one, other] = [await node(server.url), await node(server.url, "other")];
    const listener = await one.listen(onMessage);
    onTestFinished(() => listener.stop());
    await other.publish({ kind: "calendars" });
    await one.publish(notice(1));
    expect(await next()).toEqual(notice(1));
  });

  test("a listener that lost the database alone reports that everything may have changed, and follows transactions again", async () => {
    const door = await proxyTo(db.url);
    await door.open();
    const channel = createRedisChannel(await redisAt(server.url));
    const opened = await openDatabase({ url: door.url, poolSize: 2, waitS: 5, channel, clock: systemClock, log });
    onTestFinished(() => opened.close());
    const { onMessage, next } = inbox();
    const listener = await opened.control.listen(onMessage);
    onTestFinished(() => listener.stop());
    door.shut();
    await expect.poll(() => listener.connected()).toBe(false);
    await door.open();
    expect(await next()).toEqual({ kind: "everything" });
    expect(listener.connected()).toBe(true);
    await inTransaction(db.pool, (client) => opened.control.publishWith(client, [notice(1)]));
    expect(await next()).toEqual(notice(1));
  });

  test("the control channel survives a server that dies and comes back empty", async () => {
    const { onMessage, next } = inbox();
    const one = await node(server.url);
    const listener = await one.listen(onMessage);
    onTestFinished(() => listener.stop());
    await server.kill();
    await one.publish(notice(1));
    await server.start();
    const heard = [await next()];
    // Either connection may be back first; a message sent before the listener is back is covered by its `everything`.
    if (heard[0]?.kind !== "everything") heard.push(await next());
    expect(heard).toContainEqual({ kind: "everything" });
    await expect.poll(() => one.pending()).toBe(0);
    await one.publish(notice(2));
    for (let message = await next(); message.kind !== "keys" || message.keyId !== "k2"; message = await next());
    expect(listener.connected()).toBe(true);
  });
});
