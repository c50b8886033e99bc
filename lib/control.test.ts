import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { type TestDatabase, testDatabase } from "#lib/testing/database";
import { type ControlMessage, listen, publish } from "./control";

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

describe("control channel", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.close());

  async function listening() {
    const box = inbox();
    const listener = await listen({ db, onMessage: box.onMessage, clock: systemClock, log: createLog("silent") });
    onTestFinished(() => listener.stop());
    return { ...box, listener };
  }

  it("brings every message to every listener, in order", async () => {
    const [one, two] = [await listening(), await listening()];
    const sent: ControlMessage[] = [
      { kind: "keys", keyId: "k1" },
      { kind: "account", accountId: "a1" },
      { kind: "listings", venue: "live" },
      { kind: "calendars" },
      { kind: "klines", venue: "live", ticker: "EURUSD" },
    ];
    for (const message of sent) await publish(db.pool, message);
    for (const message of sent) {
      expect(await one.next()).toEqual(message);
      expect(await two.next()).toEqual(message);
    }
  });

  it("says everything after a lost connection, and hears again", async () => {
    const { next, listener } = await listening();
    expect(listener.connected()).toBe(true);
    await db.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
    );
    expect(await next()).toEqual({ kind: "everything" });
    expect(listener.connected()).toBe(true);
    await publish(db.pool, { kind: "calendars" });
    expect(await next()).toEqual({ kind: "calendars" });
  });

  it("passes over what it does not understand", async () => {
    const { next } = await listening();
    for (const payload of ["", "no json", '{"kind":"from a newer release"}', '{"kind":"listings","venue":"moon"}'])
      await db.pool.query("SELECT pg_notify('spotwire_control', $1)", [payload]);
    await publish(db.pool, { kind: "calendars" });
    expect(await next()).toEqual({ kind: "calendars" });
  });

  it("stops at once, and tells that it hears no more", async () => {
    const { listener } = await listening();
    await listener.stop();
    expect(listener.connected()).toBe(false);
  });
});
