import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSealer } from "#lib/access/sealer";
import { type ManualClock, manualClock } from "#lib/clock";
import {
  WEBHOOK_DELIVERIES_MAX_COUNT,
  WEBHOOK_EVENT_MAX_AGE_S,
  WEBHOOK_FAILURES_MAX_COUNT,
  WEBHOOK_RETRY_DELAYS_S,
  WEBHOOK_SENDING_MAX_COUNT,
  WEBHOOKS_MAX_COUNT,
  WEBHOOKS_PER_ACCOUNT_MAX_COUNT,
} from "#lib/contract/limits";
import { INCIDENT_JOIN_MINUTES, type IncidentNote, type IncidentPart } from "#lib/contract/uptime";
import { StatusEvent } from "#lib/contract/webhooks";
import { recordedWork } from "#lib/testing/recorded-work";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Attempt, Send } from "#server/outgoing/webhooks";
import { putAccount } from "#server/store/access/accounts";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { openPortalSession } from "#server/testing/portal-session";
import { deliverDue } from "./deliveries";
import { tellChanges } from "./status-events";
import { addWebhook, listWebhooks, removeWebhook, resumeWebhook, testWebhook, WEBHOOK_SECRETS } from "./webhooks";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const ADDED_MS = NOW_MS - 2 * HOUR_MS;
const URL_TEXT = "https://hooks.example.com/secret-path";
const sealer = createSealer("a secret that is known to tests alone", WEBHOOK_SECRETS);
const signal = new AbortController().signal;
/** With these settings the database reads an inner query again for each outer row, as it may by itself where it expects few rows. */
const REPEATING_PLANS = ["hashjoin", "mergejoin", "hashagg", "sort", "material"].map((one) => `-c enable_${one}=off`).join(" ");

let db: TestDatabase;
let clock: ManualClock;
let accounts = 0;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.pool.query("DELETE FROM webhook; DELETE FROM status_event");
  clock = manualClock(NOW_MS);
});

async function owner(verified = true) {
  accounts += 1;
  const { id: accountId } = await putAccount({ db, clock }, `account ${accounts}`);
  await openPortalSession(db, accountId, NOW_MS);
  const user = await db.prisma.user.findFirstOrThrow({ where: { accountId } });
  if (!verified) await db.prisma.user.update({ where: { id: user.id }, data: { emailVerifiedAt: null } });
  return { actor: { id: user.id, name: "ann@example.com" }, accountId, address: null };
}
type Owner = Awaited<ReturnType<typeof owner>>;
const context = () => ({ db, clock, sealer, allowedHosts: [], ports: [443] });
/** Adds one, longer ago than any event is told. */
const add = (by: Owner, url = URL_TEXT, atMs = ADDED_MS) => addWebhook({ ...context(), clock: manualClock(atMs) }, { url }, by);
const list = async ({ accountId }: Owner) => listWebhooks({ db }, accountId);
const only = async (by: Owner) => (await list(by))[0];

/** Answers of receivers by URL, and what they got. */
function receivers(answer: (url: string) => Attempt = () => ({ status: 200, problem: null })) {
  const got: Parameters<Send>[0][] = [];
  const send: Send = async (message) => {
    got.push(message);
    return answer(message.url);
  };
  const deliver = () => deliverDue({ pool: db.pool, clock, sealer, send, signal });
  return { got, deliver };
}
const DOWN: Attempt = { status: 503, problem: "The receiver answered 503." };

const iso = (ms: number) => new Date(ms).toISOString();
const note = (given: Partial<IncidentNote> = {}): IncidentNote => {
  const at = iso(NOW_MS);
  return {
    id: "n1",
    key: `note-${given.id ?? "n1"}`,
    part: null,
    automatic: false,
    title: "Slow",
    text: "We look.",
    impact: "degraded",
    starts_at: at,
    ends_at: null,
    updated_at: at,
    ...given,
  };
};
/** One that the service noticed. */
function incident(minutesAgo: number, untilMinutesAgo: number | null, part: IncidentPart = "live"): IncidentNote {
  const fromMs = NOW_MS - minutesAgo * MINUTE_MS;
  const ends_at = untilMinutesAgo === null ? null : iso(NOW_MS - untilMinutesAgo * MINUTE_MS);
  return note({ key: `${part}-${fromMs}`, part, automatic: true, starts_at: iso(fromMs), ends_at });
}
const tell = (...notes: IncidentNote[]) => tellChanges({ pool: db.pool, clock, uptime: async () => ({ notes }) });

test("each delivery is recorded with its event, attempt and answer, and without where it went", async () => {
  const ann = await owner();
  await add(ann);
  await tell(incident(5, null));
  const ended = recordedWork();
  await receivers(() => DOWN).deliver();
  const deliveries = ended.filter(({ name }) => name === "webhook delivery");
  expect(deliveries).toMatchObject([
    {
      kind: "client",
      problem: "503",
      attributes: {
        "spotwire.webhook.event": "incident.opened",
        "spotwire.webhook.attempt": 1,
        "http.response.status_code": 503,
      },
    },
  ]);
  expect(JSON.stringify(deliveries)).not.toContain("hooks.example.com");
});

describe("a webhook", () => {
  test("is added with a secret that is shown once and stored encrypted, listed and removed, which the audit log tells without its path", async () => {
    const ann = await owner();
    const { webhook, secret } = await add(ann);
    expect(webhook).toEqual({
      id: webhook.id,
      url: URL_TEXT,
      created_at: iso(ADDED_MS),
      paused_because: null,
      deliveries: [],
    });
    expect(JSON.stringify(await list(ann))).not.toContain(secret);
    const row = await db.prisma.webhook.findUniqueOrThrow({ where: { id: webhook.id } });
    expect(Buffer.from(row.secret).toString("latin1")).not.toContain(secret);
    expect(sealer.open(row.secret, webhook.id)).toBe(secret);
    await removeWebhook({ db }, webhook.id, ann);
    expect(await list(ann)).toEqual([]);
    const entries = await db.prisma.auditEntry.findMany({
      where: { accountId: ann.accountId, action: { startsWith: "webhook." } },
      orderBy: { action: "asc" },
    });
    expect(entries).toMatchObject([
      { action: "webhook.add", after: { url: "https://hooks.example.com" } },
      { action: "webhook.remove", before: { url: "https://hooks.example.com" } },
    ]);
  });

  test("of another account does not exist", async () => {
    const [ann, eve] = [await owner(), await owner()];
    const { webhook } = await add(ann);
    for (const id of [webhook.id, "no-id", "01890000-0000-7000-8000-000000000000"]) {
      await expect(removeWebhook({ db }, id, eve)).rejects.toMatchObject({ id: "not_found" });
      await expect(resumeWebhook({ db }, id, eve)).rejects.toMatchObject({ id: "not_found" });
      await expect(testWebhook({ db, clock }, id, eve.accountId)).rejects.toMatchObject({ id: "not_found" });
    }
    expect(await list(eve)).toEqual([]);
  });

  test("needs a verified email and an address that may be called", async () => {
    await expect(add(await owner(false))).rejects.toThrow("Verify your email first.");
    await expect(add(await owner(), "https://127.0.0.1/")).rejects.toThrow("`url` must be a public address.");
  });

  test("is refused past the limit of an account, also when several are added at once, and past that of the installation", async () => {
    const ann = await owner();
    const tries = await Promise.allSettled(Array.from({ length: WEBHOOKS_PER_ACCOUNT_MAX_COUNT + 2 }, () => add(ann)));
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(WEBHOOKS_PER_ACCOUNT_MAX_COUNT);
    expect(tries.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { message: expect.stringContaining("at most 3 webhooks") },
    });
    await db.pool.query(
      `INSERT INTO webhook (id, account_id, url, secret, created_at)
       SELECT gen_random_uuid(), account_id, url, secret, created_at FROM (SELECT * FROM webhook LIMIT 1) w, generate_series(1, $1)`,
      [WEBHOOKS_MAX_COUNT],
    );
    await expect(add(await owner())).rejects.toThrow("as many webhooks as it allows");
  });
});

describe("deliveries", () => {
  test("a test event is sent once, signed with the webhook's secret, and a failure neither repeats nor pauses", async () => {
    const ann = await owner();
    const { webhook, secret } = await add(ann);
    const { got, deliver } = receivers(() => DOWN);
    for (let count = 0; count <= WEBHOOK_FAILURES_MAX_COUNT; count += 1)
      await testWebhook({ db, clock }, webhook.id, ann.accountId);
    await deliver();
    expect(got).toHaveLength(WEBHOOK_FAILURES_MAX_COUNT + 1);
    expect(got[0]).toMatchObject({ url: URL_TEXT, secret });
    expect(StatusEvent.parse(JSON.parse(got[0]?.body ?? ""))).toMatchObject({ type: "webhook.test" });
    const shown = await only(ann);
    expect(shown?.paused_because).toBeNull();
    expect(shown?.deliveries[0]).toMatchObject({ type: "webhook.test", state: "failed", attempts: 1, next_at: null, ...DOWN });
  });

  test("an event is tried again after growing waits with the same id and body, and has failed after the last", async () => {
    const ann = await owner();
    await add(ann);
    await tell(incident(4, null));
    const { got, deliver } = receivers(() => DOWN);
    await deliver();
    for (const [index, delayS] of WEBHOOK_RETRY_DELAYS_S.entries()) {
      expect((await only(ann))?.deliveries[0]).toMatchObject({
        state: "waiting",
        attempts: index + 1,
        next_at: new Date(clock.now() + delayS * SECOND_MS).toISOString(),
      });
      clock.set(clock.now() + delayS * SECOND_MS - 1);
      await deliver();
      expect(got).toHaveLength(index + 1);
      clock.set(clock.now() + 1);
      await deliver();
      expect(got).toHaveLength(index + 2);
    }
    expect((await only(ann))?.deliveries[0]).toMatchObject({
      state: "failed",
      attempts: WEBHOOK_RETRY_DELAYS_S.length + 1,
      next_at: null,
    });
    expect(new Set(got.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
  });

  test("a webhook whose deliveries fail in a row is paused with a reason, gets nothing more, and can be resumed", async () => {
    const ann = await owner();
    const { webhook } = await add(ann);
    const { got, deliver } = receivers(() => DOWN);
    const parts = ["live", "sandbox", "rest", "stream"] as const;
    await tell(...parts.map((part) => incident(4, null, part)));
    await deliver();
    for (const delayS of WEBHOOK_RETRY_DELAYS_S) {
      clock.set(clock.now() + delayS * SECOND_MS);
      await deliver();
    }
    const paused = await only(ann);
    expect(paused?.paused_because).toBe("3 deliveries in a row failed. The last one: The receiver answered 503.");
    expect(paused?.deliveries.every(({ state }) => state === "failed")).toBe(true);
    const before = got.length;
    await tell(note({ updated_at: new Date(clock.now()).toISOString() }));
    await deliver();
    expect(got).toHaveLength(before);
    await resumeWebhook({ db }, webhook.id, ann);
    expect((await only(ann))?.paused_because).toBeNull();
    await tell(note({ id: "n2", updated_at: new Date(clock.now()).toISOString() }));
    await deliver();
    expect(got).toHaveLength(before + 1);
  });

  test("a receiver that answers 410 is paused at once", async () => {
    const ann = await owner();
    await add(ann);
    await tell(incident(4, null));
    await receivers(() => ({ status: 410, problem: "The receiver answered 410." })).deliver();
    expect(await only(ann)).toMatchObject({
      paused_because: expect.stringContaining("asks not to be called again"),
      deliveries: [{ state: "failed", attempts: 1 }],
    });
  });

  test("what still waits for a webhook that was paused is not sent, but a test is", async () => {
    const ann = await owner();
    const { webhook } = await add(ann);
    await tell(incident(4, null));
    await db.prisma.webhook.update({
      where: { id: webhook.id },
      data: { pausedAt: new Date(NOW_MS), pausedBecause: "It failed." },
    });
    await testWebhook({ db, clock }, webhook.id, ann.accountId);
    const { got, deliver } = receivers();
    await deliver();
    expect(got.map(({ body }) => JSON.parse(body).type)).toEqual(["webhook.test"]);
    const found = (await only(ann))?.deliveries.find(({ type }) => type === "incident.opened");
    expect(found).toMatchObject({ state: "failed", problem: "The webhook was paused.", next_at: null });
  });

  test("a success ends a row of failures", async () => {
    const ann = await owner();
    const { webhook } = await add(ann);
    await db.prisma.webhook.update({ where: { id: webhook.id }, data: { failures: WEBHOOK_FAILURES_MAX_COUNT - 1 } });
    await tell(incident(4, null));
    await receivers().deliver();
    expect(await only(ann)).toMatchObject({ deliveries: [{ state: "delivered", status: 200, problem: null, next_at: null }] });
    expect(await db.prisma.webhook.findUniqueOrThrow({ where: { id: webhook.id } })).toMatchObject({ failures: 0 });
  });

  test("of several nodes each delivery is sent by one, and what a node that died had claimed is sent by another", async () => {
    const ann = await owner();
    await add(ann);
    await add(ann, "https://other.example.com/");
    await Promise.all([tell(incident(4, null)), tell(incident(4, null))]);
    const { got, deliver } = receivers();
    await Promise.all([deliver(), deliver(), deliver()]);
    expect(got.map(({ url }) => url).sort()).toEqual([URL_TEXT, "https://other.example.com/"]);

    await tell(note());
    const died = new AbortController();
    const hang: Send = async () => {
      died.abort();
      return DOWN;
    };
    await deliverDue({ pool: db.pool, clock, sealer, send: hang, signal: died.signal });
    await deliver();
    expect(got).toHaveLength(2);
    clock.set(clock.now() + MINUTE_MS);
    await deliver();
    expect(got).toHaveLength(4);
  });

  test("no more than the limit are sent at once, and only the newest are kept", async () => {
    const ann = await owner();
    const { webhook } = await add(ann);
    let [now, most] = [0, 0];
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const send: Send = async () => {
      now += 1;
      most = Math.max(most, now);
      // No answer comes before as many as may be are under way, and any more would have begun.
      if (now === WEBHOOK_SENDING_MAX_COUNT) setImmediate(answer);
      await answered;
      now -= 1;
      return { status: 200, problem: null };
    };
    for (let count = 0; count < WEBHOOK_DELIVERIES_MAX_COUNT + 3; count += 1) {
      clock.set(clock.now() + 1);
      await testWebhook({ db, clock }, webhook.id, ann.accountId);
    }
    expect((await only(ann))?.deliveries).toHaveLength(WEBHOOK_DELIVERIES_MAX_COUNT);
    expect(await db.prisma.webhookDelivery.count()).toBe(WEBHOOK_DELIVERIES_MAX_COUNT);
    const pool = new pg.Pool({ connectionString: db.url, options: REPEATING_PLANS });
    await deliverDue({ pool, clock, sealer, send, signal }).finally(() => pool.end());
    expect(most).toBe(WEBHOOK_SENDING_MAX_COUNT);
  });

  test("with another secret of the installation a delivery fails with what to do", async () => {
    const ann = await owner();
    const { webhook } = await add(ann);
    await testWebhook({ db, clock }, webhook.id, ann.accountId);
    const send: Send = () => Promise.reject(new Error("must not be sent"));
    await deliverDue({ pool: db.pool, clock, sealer: createSealer("another", WEBHOOK_SECRETS), send, signal });
    expect((await only(ann))?.deliveries[0]?.problem).toContain("Remove the webhook and add it again.");
  });
});

describe("events", () => {
  const types = async () => {
    const { got, deliver } = receivers();
    await deliver();
    return got.map(({ body }) => StatusEvent.parse(JSON.parse(body))).map(({ type, data }) => [type, data.id, data.ends_at]);
  };

  test("an incident is opened once, and resolved once no further failure can continue it", async () => {
    await add(await owner());
    const open = incident(4, null);
    const id = open.key;
    await tell(open);
    await tell(open);
    expect(await types()).toEqual([["incident.opened", id, null]]);
    const ended = { ...open, ends_at: iso(NOW_MS) };
    clock.set(NOW_MS + INCIDENT_JOIN_MINUTES * MINUTE_MS - 1);
    await tell(ended);
    expect(await types()).toEqual([]);
    clock.set(NOW_MS + INCIDENT_JOIN_MINUTES * MINUTE_MS);
    await tell(ended);
    await tell(ended);
    expect(await types()).toEqual([["incident.resolved", id, iso(NOW_MS)]]);
  });

  test("an incident that an operator made theirs is updated under the same id, and resolved when they end it", async () => {
    await add(await owner());
    const open = incident(4, null);
    await tell(open);
    expect(await types()).toEqual([["incident.opened", open.key, null]]);
    const theirs = { ...open, automatic: false, text: "We call the provider.", updated_at: iso(NOW_MS) };
    await tell(theirs);
    expect(await types()).toEqual([["incident.updated", open.key, null]]);
    await tell({ ...theirs, ends_at: iso(NOW_MS), updated_at: iso(NOW_MS + 1) });
    expect(await types()).toEqual([["incident.resolved", open.key, iso(NOW_MS)]]);
  });

  test("an outage of the whole service is told once it is over", async () => {
    await add(await owner());
    const outage = incident(9, 1, "service");
    await tell(outage);
    expect(await types()).toEqual([["incident.resolved", outage.key, outage.ends_at]]);
  });

  test("a note is opened, updated with each change, and resolved when it ends", async () => {
    await add(await owner());
    await tell(note());
    expect(await types()).toEqual([["incident.opened", "note-n1", null]]);
    const end = NOW_MS + 10 * MINUTE_MS;
    const changed = note({ text: "Found it.", updated_at: iso(NOW_MS + 1), ends_at: iso(end) });
    await tell(changed);
    await tell(changed);
    expect(await types()).toEqual([["incident.updated", "note-n1", iso(end)]]);
    clock.set(end);
    await tell(changed);
    await tell(changed);
    expect(await types()).toEqual([["incident.resolved", "note-n1", iso(end)]]);
  });

  test("what is older than an hour is not told, however old a webhook is", async () => {
    await add(await owner());
    const old = NOW_MS - WEBHOOK_EVENT_MAX_AGE_S * SECOND_MS - 1;
    const notes = [note({ updated_at: iso(old) }), note({ id: "n2", updated_at: iso(old), ends_at: iso(old) })];
    await tell(incident(61, null), incident(200, 100), ...notes);
    expect(await types()).toEqual([]);
  });

  test("what changed before a webhook was added is told to older ones alone, what changes afterwards to it too", async () => {
    const [ann, bob] = [await owner(), await owner()];
    await add(ann);
    await add(bob, "https://new.example.com/hook", NOW_MS);
    const before = incident(5, null);
    await tell(before, note());
    const { got, deliver } = receivers();
    await deliver();
    const told = got.map(({ url, body }) => [new URL(url).host, StatusEvent.parse(JSON.parse(body)).data.id]);
    expect(told.sort()).toEqual([
      ["hooks.example.com", before.key],
      ["hooks.example.com", "note-n1"],
      ["new.example.com", "note-n1"],
    ]);
  });

  test("without a webhook in use nothing is read", async () => {
    await tellChanges({ pool: db.pool, clock, uptime: () => Promise.reject(new Error("must not be read")) });
  });
});
