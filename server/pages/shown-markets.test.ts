import { afterAll, beforeAll, expect, test } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { LIVE_PAGE_COST_UNITS } from "#lib/contract/markets";
import type { MarketReports } from "#lib/market/reports";
import { putAccount } from "#server/store/access/accounts";
import { createKey, revokeKey } from "#server/store/access/keys";
import { openPortalSession } from "#server/testing/portal-session";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { portal } from "./runtime";
import {
  liveKeyOf,
  type MarketReader,
  shownBoard,
  shownCoverage,
  shownMarket,
  shownMarkets,
  shownTickerCoverage,
} from "./shown-markets";

const ADDRESS = "192.0.2.1";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

/** The portal, with what it asked the live venue for. */
function watched() {
  const asked: string[] = [];
  const running = portal();
  const reports: MarketReports = {
    ...running.reports,
    markets(venue) {
      if (venue === "live") asked.push("all");
      return running.reports.markets(venue);
    },
    market(venue, ticker) {
      if (venue === "live") asked.push(ticker);
      return running.reports.market(venue, ticker);
    },
  };
  return { asked, running: { ...running, reports } };
}

async function member(settings?: Partial<Parameters<typeof createKey>[1]>, plan = "endless") {
  const { id: accountId } = await putAccount(t.keyContext, `reader ${++people}`, { plan });
  const key = { accountId, name: "Desk", venue: "live", scopes: ["market:read", "market:stream"], origins: [], ...settings };
  const made = settings === undefined ? undefined : await createKey(t.keyContext, key);
  const sessionId = await openPortalSession(t.db, accountId, t.clock.now());
  const user = { accountId, sessionId, emailVerified: true, role: "developer", operator: false, secondFactor: false } as const;
  const reader: MarketReader = { user, address: ADDRESS, asked: "live" };
  return { user, reader, keyId: made?.record.id ?? "", addKey: (more: object) => createKey(t.keyContext, { ...key, ...more }) };
}

test("a stranger who asks for the live venue gets the sandbox and the reason, and nothing of live is computed", async () => {
  const { asked, running } = watched();
  const reader: MarketReader = { user: undefined, address: ADDRESS, asked: "live" };
  expect(await shownMarkets(running, reader)).toMatchObject({ venue: "sandbox", liveKey: undefined, refused: "signed_out" });
  expect(await shownMarket(running, reader, "XAUUSD")).toMatchObject({
    venue: "sandbox",
    liveKey: undefined,
    refused: "signed_out",
    report: { venue: "sandbox" },
  });
  expect(await shownMarkets(running, { ...reader, asked: "sandbox" })).toMatchObject({ venue: "sandbox", refused: undefined });
  expect(asked).toEqual([]);
});

test.each([
  ["no key", undefined],
  ["a key of the sandbox", { venue: "sandbox" }],
  ["a live key that does not read", { scopes: ["market:stream"] }],
  ["a live key for other addresses", { addresses: ["198.51.100.0/24"] }],
  ["a live key that is not valid yet", { notBefore: new Date(Date.UTC(2026, 1, 1)) }],
])("an account with %s sees the sandbox, and nothing of live is computed", async (_, settings) => {
  const { asked, running } = watched();
  const { reader } = await member(settings);
  expect(await shownMarkets(running, reader)).toMatchObject({ venue: "sandbox", liveKey: undefined, refused: "no_key" });
  expect(await shownMarkets(running, { ...reader, asked: "sandbox" })).toMatchObject({ liveKey: undefined, refused: undefined });
  expect(asked).toEqual([]);
});

test("a reader with an unverified address, a role that uses no keys or a suspended account does not see the live venue, whatever their keys", async () => {
  const { asked, running } = watched();
  const { reader, user } = await member({});
  const { accountId } = user;
  // A reader or a bookkeeper of the organisation may see its keys, and use none.
  expect(await shownMarkets(running, { ...reader, user: { ...user, role: "reader" } })).toMatchObject({
    venue: "sandbox",
    liveKey: undefined,
    refused: "no_role",
  });
  expect(await shownMarkets(running, { ...reader, user: { ...user, emailVerified: false } })).toMatchObject({
    refused: "unverified",
  });
  await t.db.prisma.account.update({ where: { id: accountId }, data: { suspendedAt: new Date(t.clock.now()) } });
  expect(await shownMarkets(running, reader)).toMatchObject({ venue: "sandbox", refused: "no_key" });
  expect(asked).toEqual([]);
});

test("a reader whose account lost live access does not see the live venue, and learns why", async () => {
  const { asked, running } = watched();
  const { reader } = await member({});
  await t.db.prisma.account.update({ where: { id: reader.user?.accountId ?? "" }, data: { liveAccess: false } });
  expect(await shownMarkets(running, reader)).toMatchObject({ venue: "sandbox", liveKey: undefined, refused: "no_access" });
  expect(asked).toEqual([]);
});

test("a reader with a live key sees the venue that the address asks for, and may switch in both", async () => {
  const { asked, running } = watched();
  const { reader, keyId } = await member({});
  expect(await shownMarkets(running, { ...reader, asked: "sandbox" })).toMatchObject({
    venue: "sandbox",
    liveKey: { id: keyId },
  });
  expect(asked).toEqual([]);
  const { venue, report, liveKey } = await shownMarkets(running, reader);
  expect({ venue, id: liveKey?.id }).toEqual({ venue: "live", id: keyId });
  expect(report.map(({ ticker }) => ticker)).toEqual(t.markets.live.catalogue.list().map(({ ticker }) => ticker));
  expect(await shownMarket(running, reader, "XAUUSD")).toMatchObject({ venue: "live", report: { venue: "live" } });
});

test("once the live venue has a provider, readers who may see it are shown it first, and others the sandbox and the reason", async () => {
  const { asked, running } = watched();
  const bound = { ...running, env: { ...running.env, LIVE_FEED: ["push"] as typeof running.env.LIVE_FEED } };
  const stranger: MarketReader = { user: undefined, address: ADDRESS, asked: undefined };
  const { reader, keyId } = await member({});
  const anywhere = { ...reader, asked: undefined };
  expect(await shownBoard(bound, stranger)).toMatchObject({ venue: "sandbox", refused: "signed_out" });
  expect(await shownMarkets(bound, stranger)).toMatchObject({ venue: "sandbox", refused: "signed_out" });
  expect(await liveKeyOf(bound, stranger)).toBeUndefined();
  expect(asked).toEqual([]);
  expect(await shownBoard(bound, anywhere)).toMatchObject({ venue: "live", refused: undefined, liveKey: { id: keyId } });
  expect(await shownMarket(bound, anywhere, "EURUSD")).toMatchObject({ venue: "live", report: { venue: "live" } });
  expect((await liveKeyOf(bound, anywhere))?.id).toBe(keyId);
  expect(await shownMarkets(bound, { ...reader, asked: "sandbox" })).toMatchObject({ venue: "sandbox", refused: undefined });
  expect(await shownMarkets(running, anywhere)).toMatchObject({ venue: "sandbox", refused: undefined });
  const { reader: keyless } = await member();
  await t.db.prisma.account.update({ where: { id: keyless.user?.accountId ?? "" }, data: { liveAccess: false } });
  expect(await shownBoard(bound, { ...keyless, asked: undefined })).toMatchObject({ venue: "sandbox", refused: "no_access" });
});

test("a key that also streams is preferred to a newer one that only reads", async () => {
  const { reader, keyId, addKey } = await member({});
  t.clock.set(t.clock.now() + 1_000);
  await addKey({ scopes: ["market:read"] });
  expect((await shownMarkets(portal(), reader)).liveKey?.id).toBe(keyId);
});

test("what a key may not read is not shown, and neither is what live does not list", async () => {
  const { running } = watched();
  const { reader } = await member({ tickers: ["EURUSD"] });
  expect((await shownMarkets(running, reader)).report.map(({ ticker }) => ticker)).toEqual(["EURUSD"]);
  const refused = { venue: "sandbox", liveKey: undefined, refused: "not_listed", report: { venue: "sandbox" } };
  expect(await shownMarket(running, reader, "XAUUSD")).toMatchObject(refused);
  expect(await shownMarket(running, reader, "TESTGAP")).toMatchObject(refused);
  expect(await shownMarket(running, reader, "NOPE")).toMatchObject({ report: undefined });
});

test("when the key is revoked, also while the page is made, the next thing shown is the sandbox", async () => {
  const { asked, running } = watched();
  const { reader, keyId } = await member({});
  const revoking = {
    ...running,
    access: {
      ...running.access,
      async refresh(known: Parameters<typeof running.access.refresh>[0]) {
        const principal = await running.access.refresh(known);
        await revokeKey(t.keyContext, keyId);
        return principal;
      },
    },
  };
  expect(await shownMarkets(revoking, reader)).toMatchObject({ venue: "sandbox", refused: "no_key" });
  expect(await shownMarkets(running, reader)).toMatchObject({ venue: "sandbox", liveKey: undefined, refused: "no_key" });
  expect(asked).toEqual([]);
});

/** Pages of the live venue that a reader may open at once. */
const PAGES_BURST = Math.floor(PLAN_DEFAULTS.demo.restBurst / LIVE_PAGE_COST_UNITS);

test("each page of the live venue counts for the pages of its reader and never for the key, and past their limit the sandbox is shown", async () => {
  const { asked, running } = watched();
  const { reader, keyId } = await member({ restPerMinute: 1, restBurst: 1 });
  expect((await shownMarkets(running, { ...reader, asked: "sandbox" })).venue).toBe("sandbox");
  expect((await shownMarket(running, reader, "EURUSD")).venue).toBe("live");
  for (let page = 1; page < PAGES_BURST; page += 1) expect((await shownMarkets(running, reader)).venue).toBe("live");
  expect(await shownMarkets(running, reader)).toMatchObject({
    venue: "sandbox",
    refused: "rate_limited",
    liveKey: { id: keyId },
  });
  expect(asked).toHaveLength(PAGES_BURST);
  await t.clock.advance(60_000);
  expect((await shownMarkets(running, reader)).venue).toBe("live");
});

test("coverage is shown as markets are: of live to a reader who may see it, as far as the key reads, at the same cost", async () => {
  const { running } = watched();
  const stranger: MarketReader = { user: undefined, address: ADDRESS, asked: "live" };
  expect(await shownCoverage(running, stranger)).toMatchObject({
    venue: "sandbox",
    refused: "signed_out",
    report: { venue: "sandbox" },
  });
  expect(await shownTickerCoverage(running, stranger, "EURUSD")).toMatchObject({
    refused: "signed_out",
    report: { venue: "sandbox" },
  });
  const { reader } = await member({ tickers: ["EURUSD"] });
  const { venue, report } = await shownCoverage(running, reader);
  expect({ venue, tickers: report.items.map(({ ticker }) => ticker) }).toEqual({ venue: "live", tickers: ["EURUSD"] });
  expect(await shownTickerCoverage(running, reader, "EURUSD")).toMatchObject({
    venue: "live",
    report: { row: { ticker: "EURUSD" } },
  });
  expect(await shownTickerCoverage(running, reader, "XAUUSD")).toMatchObject({
    venue: "sandbox",
    refused: "not_listed",
    liveKey: undefined,
  });
  for (let page = 3; page < PAGES_BURST; page += 1) expect((await shownCoverage(running, reader)).venue).toBe("live");
  expect(await shownCoverage(running, reader)).toMatchObject({ venue: "sandbox", refused: "rate_limited" });
  expect((await shownTickerCoverage(running, reader, "NOPE")).report).toBeUndefined();
});

test("with DATA_PAGE=public everybody sees the coverage of live, but no prices of it", async () => {
  const { asked, running } = watched();
  const open = { ...running, env: { ...running.env, DATA_PAGE: "public" as const } };
  const stranger: MarketReader = { user: undefined, address: ADDRESS, asked: "live" };
  expect(await shownCoverage(open, stranger)).toMatchObject({ venue: "live", refused: undefined, report: { venue: "live" } });
  expect(await shownCoverage(open, { ...stranger, asked: "sandbox" })).toMatchObject({ venue: "sandbox", refused: undefined });
  expect(await shownTickerCoverage(open, stranger, "XAUUSD")).toMatchObject({ venue: "live", report: { venue: "live" } });
  expect(await shownTickerCoverage(open, stranger, "TESTGAP")).toMatchObject({ venue: "sandbox", refused: "not_listed" });
  expect((await shownTickerCoverage(open, stranger, "NOPE")).report).toBeUndefined();
  expect(await shownMarkets(open, stranger)).toMatchObject({ venue: "sandbox", refused: "signed_out" });
  expect(asked).toEqual([]);
});

test("operators see the coverage of live without a key and at no cost, once they have a second factor, and no prices of it", async () => {
  const { asked, running } = watched();
  const { reader, user } = await member();
  const factored = { ...user, operator: true, secondFactor: true };
  for (const other of [
    { ...factored, secondFactor: false },
    { ...factored, operator: false },
  ])
    expect(await shownCoverage(running, { ...reader, user: other })).toMatchObject({ refused: "no_key", keyless: false });
  const operator = { ...reader, user: factored };
  const seen = { venue: "live", refused: undefined, liveKey: undefined, keyless: true };
  expect(await shownCoverage(running, operator)).toMatchObject({ ...seen, report: { venue: "live" } });
  expect(await shownTickerCoverage(running, operator, "XAUUSD")).toMatchObject({ ...seen, report: { venue: "live" } });
  expect(await shownCoverage(running, { ...operator, asked: undefined })).toMatchObject({ venue: "sandbox", keyless: true });
  expect(await shownMarkets(running, operator)).toMatchObject({ venue: "sandbox", refused: "no_key" });
  expect(asked).toEqual([]);
});

test("who needs no key for the coverage of live is not counted for one, and has it for the calls that the page leads to", async () => {
  const { running } = watched();
  const { reader, keyId } = await member({ tickers: ["EURUSD"], restPerMinute: 60, restBurst: LIVE_PAGE_COST_UNITS });
  const open = { ...running, env: { ...running.env, DATA_PAGE: "public" as const } };
  for (let reads = 0; reads < 3; reads += 1)
    expect(await shownTickerCoverage(open, reader, "EURUSD")).toMatchObject({ venue: "live", liveKey: { id: keyId } });
  // The key does not read it.
  expect(await shownTickerCoverage(open, reader, "XAUUSD")).toMatchObject({ venue: "live", liveKey: undefined });
  expect((await shownCoverage(running, reader)).venue).toBe("live");
});
