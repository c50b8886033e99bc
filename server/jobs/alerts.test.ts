import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AlertSwitch } from "#lib/contract/alerts";
import { KeyEvent, QuotaEvent } from "#lib/contract/webhooks";
import { monthStartMs } from "#lib/domain/month";
import { isFault } from "#lib/fault";
import type { MailMessage } from "#lib/mail/messages";
import { collectingLog } from "#lib/testing/collecting-log";
import { DAY_MS } from "#lib/units";
import { putAccount } from "#server/store/access/accounts";
import { createAccess } from "#server/store/access/create-access";
import { createKey, revokeKey } from "#server/store/access/keys";
import { writeCalls } from "#server/store/usage/store";
import { createMember } from "#server/testing/portal-session";
import { TEST_SECRET, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { startAlerts } from "./alerts";

let t: TestRuntime;
let logged: Record<string, unknown>[];
let mails: MailMessage[];

beforeEach(async () => {
  t = await testRuntime();
  logged = [];
  mails = [];
});
afterEach(() => t.close());

/** A node, which looks at once. */
function start() {
  const send = (message: MailMessage) => void mails.push(message);
  const log = collectingLog(logged, "info");
  return startAlerts({ db: t.db, clock: t.clock, log, send, portal: "https://portal.example.com" });
}
/** Looks once on each of so many nodes at the same time. */
const look = (nodes = 1) => Promise.all(Array.from({ length: nodes }, () => start().stop()));

/** An account with one member of each role, and a webhook. */
async function account(name: string, alertsOff: AlertSwitch[] = []): Promise<string> {
  const { id: accountId } = await putAccount(t.keyContext, name);
  await t.db.prisma.account.update({ where: { id: accountId }, data: { alertsOff } });
  for (const role of ["owner", "developer", "billing", "reader"] as const)
    await createMember(t.db, accountId, { email: `${role}@${name}.example.com`, role });
  const webhook = { accountId, url: `https://${name}.example.com`, secret: new Uint8Array(1), createdAt: new Date(0) };
  await t.db.prisma.webhook.create({ data: webhook });
  return accountId;
}

const makeKey = (accountId: string, name: string, expiresAt: Date | null = null) =>
  createKey(t.keyContext, { accountId, venue: "sandbox", scopes: ["market:read"], origins: [], name, expiresAt });
/** Somebody uses a key at a process that knows no key yet, and writes what it noted when it stops. @returns what was wrong with the key */
async function use(text: string, address = "203.0.113.7"): Promise<string | undefined> {
  const { db, env, clock, log, metrics } = t;
  const access = createAccess({ db, env, secret: TEST_SECRET, clock, log, metrics, controlConnected: () => true });
  try {
    await access.verify(text, address);
    return undefined;
  } catch (error) {
    return isFault(error) ? error.id : undefined;
  } finally {
    await access.stop();
  }
}
const spend = (accountId: string, units: number) =>
  writeCalls(t.db.pool, [
    { accountId, keyId: accountId, operation: "klines", code: 0, atMs: t.clock.now(), calls: 1, units, latency: [] },
  ]);
const recipients = () => mails.map(({ to }) => to).sort();
/** The events for webhooks, as [where to, body]. */
async function events(): Promise<[string, KeyEvent | QuotaEvent][]> {
  const sent = await t.db.prisma.webhookDelivery.findMany({ include: { webhook: true }, orderBy: { createdAt: "asc" } });
  return sent.map(({ body, webhook }) => [webhook.url, JSON.parse(body)]);
}

test("owners and developers, and the webhooks of the account alone, are told of keys that expire soon", async () => {
  const [ada] = [await account("ada"), await account("bob")];
  const expiresAt = new Date(t.clock.now() + 20 * DAY_MS);
  await makeKey(ada, "first", expiresAt);
  await makeKey(ada, "second", expiresAt);
  await look(3);
  expect(mails).toEqual([]);
  t.clock.set(t.clock.now() + 6 * DAY_MS);
  await look(3);
  expect(recipients()).toEqual(["developer@ada.example.com", "owner@ada.example.com"]);
  expect(mails[0]?.subject).toBe("2 of your API keys expire soon");
  expect(mails[0]?.text).toMatch(/ {2}first \(sw_test_\w{4}….{4}\): [\d-]+ [\d:]+ UTC\n {2}second /);
  expect(mails[0]?.text).toContain("Organisation: ada. Choose its alerts: https://portal.example.com/dashboard/organisation");
  const told = await events();
  expect(told.map(([url, event]) => [url, KeyEvent.parse(event).type, KeyEvent.parse(event).data.name])).toEqual([
    ["https://ada.example.com", "key.expiring", "first"],
    ["https://ada.example.com", "key.expiring", "second"],
  ]);
  await look(3);
  expect(mails).toHaveLength(2);
  t.clock.set(t.clock.now() + 13 * DAY_MS);
  await look(3);
  expect(mails).toHaveLength(4);
});

test("the first use of a revoked key is told once, with the network it came from, however often and from wherever it goes on", async () => {
  const ada = await account("ada");
  const { text, record } = await makeKey(ada, "old");
  expect(await use(text)).toBeUndefined();
  await revokeKey(t.keyContext, record.id);
  expect(await use(text)).toBe("unauthorized");
  await look(3);
  expect(recipients()).toEqual(["developer@ada.example.com", "owner@ada.example.com"]);
  expect(mails[0]?.subject).toBe('Your revoked API key "old" was used');
  expect(mails[0]?.text).toContain("from 203.0.113.0/24");
  const [[url, event] = []] = await events();
  expect(url).toBe("https://ada.example.com");
  expect(KeyEvent.parse(event)).toMatchObject({ type: "key.refused", data: { state: "revoked", network: "203.0.113.0/24" } });
  for (const address of ["198.51.100.1", "203.0.113.9", "2001:db8::1"]) {
    t.clock.set(t.clock.now() + DAY_MS);
    await use(text, address);
    await look();
  }
  expect(mails).toHaveLength(2);
  expect(await events()).toHaveLength(1);
});

test("a text that was never a key tells nobody", async () => {
  const ada = await account("ada");
  const { text, record } = await makeKey(ada, "old");
  await revokeKey(t.keyContext, record.id);
  for (const wrong of [`${text}x`, text.replace(/.$/, "!"), "sw_test_nothing", ""]) expect(await use(wrong)).toBe("unauthorized");
  await look();
  expect(mails).toEqual([]);
  expect(await events()).toEqual([]);
});

test("owners and billing are told of a share of the quota once a month, of the largest share alone", async () => {
  await t.db.prisma.plan.update({ where: { name: "free" }, data: { monthUnits: 100, monthHard: true } });
  t.clock.set(monthStartMs("2026-04") + DAY_MS);
  const eva = await account("eva");
  await spend(eva, 79);
  await look(2);
  expect(mails).toEqual([]);
  await spend(eva, 1);
  await look(2);
  expect(recipients()).toEqual(["billing@eva.example.com", "owner@eva.example.com"]);
  expect(mails[0]?.subject).toBe("80% of your monthly quota is used");
  await spend(eva, 20);
  await look(2);
  expect(mails[2]?.subject).toBe("Your monthly quota is used up");
  expect(mails[2]?.text).toContain("Calls are refused until 2026-05-01 00:00 UTC");
  t.clock.set(monthStartMs("2026-05"));
  await spend(eva, 300);
  await look(2);
  expect(mails).toHaveLength(6);
  expect((await events()).map(([, event]) => QuotaEvent.parse(event).data.percent)).toEqual([80, 100, 100]);
});

test("what an account switched off is sent to nobody, and what it did not is", async () => {
  await t.db.prisma.plan.update({ where: { name: "free" }, data: { monthUnits: 100 } });
  const quiet = await account("quiet", ["quota.email", "key_expiring.webhook"]);
  await spend(quiet, 85);
  await makeKey(quiet, "k", new Date(t.clock.now() + 20 * DAY_MS));
  t.clock.set(t.clock.now() + 6 * DAY_MS);
  await spend(quiet, 85);
  await look();
  expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('Your API key "k" expires soon'));
  expect((await events()).map(([, { type }]) => type)).toEqual(["quota.reached"]);
});

test("an alert of an account that nobody signs in to is in the log", async () => {
  const { id } = await putAccount(t.keyContext, "operator");
  await makeKey(id, "feeder", new Date(t.clock.now() + DAY_MS * 15));
  t.clock.set(t.clock.now() + 2 * DAY_MS);
  await look();
  expect(logged).toMatchObject([
    { level: 40, account: "operator", alert: "key_expiring", msg: "an alert goes to nobody by email" },
  ]);
  expect(mails).toEqual([]);
});

test("what could not be queued for webhooks is sent by the next look", async () => {
  const ada = await account("ada");
  await makeKey(ada, "k", new Date(t.clock.now() + DAY_MS * 15));
  t.clock.set(t.clock.now() + 2 * DAY_MS);
  await t.db.pool.query("ALTER TABLE webhook_delivery RENAME TO away");
  const failing = start();
  await vi.waitFor(() => expect(logged).toMatchObject([{ msg: "cannot alert accounts; retrying" }]));
  await failing.stop();
  expect(mails).toEqual([]);
  await t.db.pool.query("ALTER TABLE away RENAME TO webhook_delivery");
  await look();
  expect(recipients()).toHaveLength(2);
  expect(await events()).toHaveLength(1);
});
