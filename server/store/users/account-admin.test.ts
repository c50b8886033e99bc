import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOG_PAGE_MAX_ROWS } from "#lib/contract/portal";
import { putAccount } from "#server/store/access/accounts";
import { listAudit } from "#server/store/access/audit";
import { revokeKey } from "#server/store/access/keys";
import { openPortalSession } from "#server/testing/portal-session";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { ENDLESS_PLAN } from "#server/testing/stream-keys";
import { changeAccount, listAccounts } from "./account-admin";

const BY = { actor: { name: "operator@example.com" }, address: "203.0.113.9" };

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const find = async (q: string) => (await listAccounts(t.keyContext, { q })).items;

/** An account with one live key on plan free. */
async function customer(account: string) {
  const { text: key, record } = await t.issueKey({ account, plan: "free" });
  const { accountId: id } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
  const instruments = () => t.ask("/api/v1/market/instruments", { key });
  return { id, key, record, instruments };
}

async function change(id: string, what: Parameters<typeof changeAccount>[2]) {
  const { after } = await changeAccount(t.keyContext, id, what, null, BY);
  await t.settle();
  return after;
}

describe("the list of accounts", () => {
  test("accounts are found by part of their name or their owner's address, in upper or lower case", async () => {
    const { id } = await customer("Findable Metals Ltd");
    await openPortalSession(t.db, id, t.clock.now());
    for (const q of ["metals ltd", id.slice(0, 13).toUpperCase()]) {
      const found = await find(q);
      expect(found.map((account) => account.id)).toContain(id);
      expect(found.find((account) => account.id === id)).toMatchObject({ email: `${id}@example.com`, plan: "free" });
    }
    expect(await find("nobody is called this")).toEqual([]);
  });

  test("an account counts only valid keys", async () => {
    const { record } = await customer("three keys");
    await t.issueKey({ account: "three keys", plan: "free" });
    await t.issueKey({ account: "three keys", plan: "free", expiresAt: new Date(t.clock.now() + 1000) });
    expect(await find("three keys")).toMatchObject([{ active_keys: 3 }]);
    t.clock.set(t.clock.now() + 1001);
    expect(await find("three keys")).toMatchObject([{ active_keys: 2 }]);
    await revokeKey(t.keyContext, record.id);
    expect(await find("three keys")).toMatchObject([{ active_keys: 1 }]);
  });

  test("accounts are listed page by page, newest first, each once", async () => {
    const count = LOG_PAGE_MAX_ROWS + 3;
    for (let made = 0; made < count; made += 1) await putAccount(t.keyContext, `paged ${made}`);
    const first = await listAccounts(t.keyContext, { q: "paged " });
    expect(first.items).toHaveLength(LOG_PAGE_MAX_ROWS);
    const rest = await listAccounts(t.keyContext, { q: "paged ", before: first.next_before ?? "" });
    expect(rest).toMatchObject({ items: [{ name: "paged 2" }, { name: "paged 1" }, { name: "paged 0" }], next_before: null });
  });
});

describe("a change of an account", () => {
  test("a change of an account's plan applies to the next response", async () => {
    const { id, instruments } = await customer("plan change");
    expect((await instruments()).headers.get("x-ratelimit-limit")).toBe("120");
    expect(await change(id, { plan: "pro" })).toMatchObject({ plan: "pro" });
    expect((await instruments()).headers.get("x-ratelimit-limit")).toBe("3000");
  });

  test("a change of an account's permissions changes its instruments", async () => {
    const { id, instruments } = await customer("permission change");
    await change(id, { permissions: { kind: "tickers", values: ["EURUSD"] } });
    expect((await instruments()).body.data.items.map(({ ticker }: { ticker: string }) => ticker)).toEqual(["EURUSD"]);
    await change(id, { permissions: { kind: "asset_classes", values: [] } });
    expect((await instruments()).body.data.items).toEqual([]);
  });

  test("what an account is said to read is what its keys read, by its plan and its own permissions", async () => {
    const { id, instruments } = await customer("narrowed");
    const plan = "seven-days";
    const of = { kind: "tickers", values: ["EURUSD", "XAUUSD"] };
    await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: plan, historyDays: 7, permissions: of } });
    const read = async () => (await instruments()).body.data.items.map(({ ticker }: { ticker: string }) => ticker).sort();
    const reads = async (own: Parameters<typeof changeAccount>[2]) => {
      await change(id, { plan, ...own });
      return { ...(await find("narrowed"))[0]?.reads, listed: await read() };
    };
    expect(await reads({ permissions: { kind: "all" }, historyDays: null })).toEqual({
      asset_classes: null,
      tickers: ["EURUSD", "XAUUSD"],
      history_days: 7,
      listed: ["EURUSD", "XAUUSD"],
    });
    expect(await reads({ permissions: { kind: "asset_classes", values: ["metals"] }, historyDays: 3 })).toEqual({
      asset_classes: ["metals"],
      tickers: ["EURUSD", "XAUUSD"],
      history_days: 3,
      listed: ["XAUUSD"],
    });
    expect(await reads({ permissions: { kind: "tickers", values: ["XAUUSD", "GBPUSD"] }, historyDays: 30 })).toEqual({
      asset_classes: null,
      tickers: ["XAUUSD"],
      history_days: 7,
      listed: ["XAUUSD"],
    });
  });

  test("a change of an account to what it is has no entry in the audit log, and its revision stays", async () => {
    const { id } = await customer("the same");
    const { revision, suspended_at } = await change(id, { plan: "standard", suspended: true, signInDomain: "same.example" });
    await t.clock.advance(1_000);
    const again = await change(id, { plan: "standard", suspended: true, signInDomain: "same.example" });
    expect(again).toMatchObject({ revision, suspended_at });
    await putAccount(t.keyContext, "the same", { plan: "standard" });
    expect((await find("the same"))[0]).toMatchObject({ revision });
    const entries = (await listAudit(t.db, { accountId: id })).items.filter(({ action }) => action === "account.change");
    expect(entries).toHaveLength(1);
  });

  test("suspending an account suspends its keys, and lifting the suspension restores them", async () => {
    const { id, instruments } = await customer("suspension");
    expect((await instruments()).status).toBe(200);
    expect((await change(id, { suspended: true })).suspended_at).toBe(new Date(t.clock.now()).toISOString());
    expect((await instruments()).body.message).toBe("account_suspended");
    expect((await change(id, { suspended: false })).suspended_at).toBeNull();
    expect((await instruments()).status).toBe(200);
  });

  test("a change of an account is recorded in the audit log with actor, address, before and after", async () => {
    const { id } = await customer("audited");
    await change(id, { plan: "standard" });
    const [entry] = (await listAudit(t.db, { accountId: id })).items;
    expect(entry).toMatchObject({
      actor: BY.actor.name,
      address: BY.address,
      action: "account.change",
      target: "audited",
      before: { plan: "free", suspended: false },
      after: { plan: "standard", suspended: false },
    });
  });

  test("an invalid change of an account is rejected and changes nothing", async () => {
    const { id } = await customer("unchanged");
    await expect(change(id, { plan: "gold", suspended: true })).rejects.toMatchObject({
      id: "invalid_parameter",
      data: { parameter: "plan" },
    });
    for (const unknown of ["not an id", "01890000-0000-7000-8000-000000000000"])
      await expect(change(unknown, { plan: "pro" })).rejects.toMatchObject({ id: "not_found" });
    expect(await find("unchanged")).toMatchObject([{ plan: "free", suspended_at: null }]);
    expect((await listAudit(t.db, { accountId: id })).items.filter(({ action }) => action === "account.change")).toEqual([]);
  });
});
