import { randomUUID } from "node:crypto";
import { encode } from "next-auth/jwt";
import type { Gauge } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { type FeedsReport, PREVIEW_SESSIONS_MAX_COUNT } from "#lib/contract/portal-admin";
import { createNodeReport } from "#lib/market/node-report";
import { LOOP_SAMPLE_MS } from "#lib/metrics";
import { NO_PLAN_TERMS } from "#lib/testing/plan";
import { DAY_MS, DAY_S, SECOND_MS } from "#lib/units";
import { putAccount } from "#server/store/access/accounts";
import { createKey } from "#server/store/access/keys";
import { inTransaction } from "#server/store/history/transaction";
import { storeBatch } from "#server/store/klines/kline-batches";
import { beginBackfill } from "#server/store/market/backfills";
import { recordBackup } from "#server/store/market/backup-runs";
import type { ReloadableCatalogue } from "#server/store/market/catalogue";
import { setRetired } from "#server/store/market/catalogue-admin";
import { readPin } from "#server/store/market/feed-pin";
import { writeNodeReport } from "#server/store/market/node-reports";
import { failingChecks } from "#server/store/market/operator-warnings";
import { testKline } from "#server/testing/market";
import { openPortalSession } from "#server/testing/portal-session";
import { TEST_SECRET, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { PORTAL_ROUTES, type PortalRouteName, portalApi } from "./api";

const ORIGIN = "http://localhost:3000";
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

interface Call {
  /** The parameters of the path, percent-encoded. */
  readonly params?: Record<string, string>;
  readonly body?: object;
  readonly query?: string;
  readonly cookie?: string | undefined;
  readonly origin?: string;
}

let t: TestRuntime;
let operator: string;
let developer: string;
beforeAll(async () => {
  t = await testRuntime({ variables: { LIVE_FEED: "oanda,push", OANDA_TOKEN: "t", OANDA_ACCOUNT: "a" } });
  operator = await signIn("operators", true);
  developer = await signIn("developers", false);
});
afterAll(() => t.close());

/** The session cookie of a user who has just signed in. */
async function signIn(name: string, isOperator: boolean): Promise<string> {
  const { id } = await putAccount(t.keyContext, name);
  const sid = await openPortalSession(t.db, id, t.clock.now());
  await t.db.prisma.user.updateMany({
    where: { accountId: id },
    data: { operator: isOperator, totpSince: new Date(t.clock.now()) },
  });
  await t.db.prisma.portalSession.update({ where: { id: sid }, data: { lastSeenAt: new Date(t.clock.now()) } });
  return `spotwire.session=${await encode({ token: { sid }, secret: TEST_SECRET })}`;
}

/** Calls a route as a browser would, by default as the operator. */
async function call(route: PortalRouteName, given: Call = {}) {
  const { params = {}, body = {}, query = "", cookie = operator, origin = ORIGIN } = given;
  const [method = "", path = ""] = route.split(" ");
  const headers = { host: "localhost:3000", origin, cookie, "content-type": "application/json" };
  const init = { method, headers, ...(method !== "GET" && { body: JSON.stringify(body) }) };
  const filled = path.replace(/\[(\w+)\]/g, (_, name) => params[name] ?? UNKNOWN_ID);
  const response = await portalApi(new Request(`${ORIGIN}/api/portal${filled}${query}`, init));
  const answer = await response.json();
  await t.settle();
  return { status: response.status, message: answer.message, data: answer.data };
}

const LIMITS = {
  rest_per_minute: 300,
  rest_burst: 30,
  stream_connections: 3,
  subscriptions_per_connection: 30,
  live_access: false,
  ...NO_PLAN_TERMS,
};
const HALT = { state: "closed", starts_at: null, ends_at: null, note: "halt" };
const ALWAYS = { definition: { kind: "always" } };
const forex = { name: "forex" };
const ROUTES = PORTAL_ROUTES.filter(({ user }) => user === "operator" || user === "billing").map(({ name }) => name);

const lastEntry = async () => (await call("GET /admin/audit")).data.items[0];

test("the routes below /admin, and no others, are for operators", () => {
  expect(ROUTES).toEqual(PORTAL_ROUTES.map(({ name }) => name).filter((name) => / \/admin\//.test(name)));
});

describe.each(ROUTES)("%s", (route) => {
  test(`${route} does not exist for users who are not operators, and asks others to sign in`, async () => {
    const changes = () => t.db.prisma.auditEntry.count({ where: { NOT: { action: { startsWith: "access." } } } });
    const before = await changes();
    expect(await call(route, { cookie: developer })).toMatchObject({ status: 404, message: "not_found" });
    expect(await call(route, { cookie: "spotwire.session=made.up" })).toMatchObject({ status: 401, message: "unauthorized" });
    expect(await changes()).toBe(before);
  });
});

test.each(ROUTES.filter((route) => !route.startsWith("GET ")))("%s refuses pages of another origin", async (route) => {
  const refused = await call(route, { origin: "https://elsewhere.example.com" });
  expect(refused).toMatchObject({ status: 403, message: "origin_not_allowed" });
});

describe("an operator", () => {
  test("an operator loses access with the next call after the role was removed", async () => {
    const cookie = await signIn("for a while", true);
    expect((await call("GET /admin/plans", { cookie })).status).toBe(200);
    await t.db.prisma.user.updateMany({ where: { account: { name: "for a while" } }, data: { operator: false } });
    expect((await call("GET /admin/plans", { cookie })).status).toBe(404);
  });

  test("an operator finds an account and puts it on another plan, which applies to the next answer", async () => {
    const { text: key } = await t.issueKey({ account: "moved", plan: "free" });
    const { data } = await call("GET /admin/accounts", { query: "?q=moved" });
    const { id, revision } = data.items[0];
    const changed = await call("PATCH /admin/accounts/[id]", { params: { id }, body: { plan: "standard", revision } });
    expect(changed).toMatchObject({ status: 200, data: { account: { id, plan: "standard", revision: revision + 1 } } });
    const { headers } = await t.ask("/api/v1/market/instruments", { key });
    expect(headers.get("x-ratelimit-limit")).toBe(String(PLAN_DEFAULTS.standard.restPerMinute));
    expect(await lastEntry()).toMatchObject({
      action: "account.change",
      target: "moved",
      actor: expect.stringContaining("@example.com"),
      before: { plan: "free" },
      after: { plan: "standard" },
    });
  });

  test("an operator cannot change fields of an account that the form does not have", async () => {
    const params = { id: (await call("GET /admin/accounts", { query: "?q=developers" })).data.items[0].id };
    for (const body of [
      { name: "mine" },
      { plan: "pro", operator: true },
      ...[0, 0.5, "7", 36_501].map((history_days) => ({ history_days })),
      ...[0, "1", 1.5, null].map((revision) => ({ plan: "pro", revision })),
    ])
      expect(await call("PATCH /admin/accounts/[id]", { params, body: { revision: 1, ...body } })).toMatchObject({
        message: "invalid_parameter",
      });
    const unread = await call("PATCH /admin/accounts/[id]", { params, body: { plan: "pro" } });
    expect(unread).toMatchObject({ message: "missing_parameter", data: { parameter: "revision" } });
    expect((await call("GET /admin/accounts", { query: "?q=developers" })).data.items[0]).toMatchObject({ plan: "free" });
  });

  test("of two operators who change the same account, the second is told, and writes over nothing", async () => {
    const { id } = await putAccount(t.keyContext, "contested account", { liveAccess: false });
    const read = async () => (await call("GET /admin/accounts", { query: "?q=contested" })).data.items[0];
    const change = (body: object) => call("PATCH /admin/accounts/[id]", { params: { id }, body });
    const entries = () => t.db.prisma.auditEntry.count({ where: { accountId: id, action: "account.change" } });
    for (const [first, second] of [
      [{ live_access: true }, { live_access: true }],
      [{ plan: "standard" }, { plan: "pro" }],
      [{ permissions: { kind: "tickers", values: ["EURUSD"] } }, { history_days: 7 }],
      [{ suspended: true }, { sign_in_domain: "contested.example" }],
    ]) {
      const [{ revision }, known] = [await read(), await entries()];
      const both = await Promise.all([change({ ...first, revision }), change({ ...second, revision })]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
      const [won] = both.filter(({ status }) => status === 200);
      expect(await read()).toEqual(won?.data.account);
      expect(await entries()).toBe(known + 1);
    }
  });

  test("an operator changes the limits of a plan for all of its accounts", async () => {
    const { text: key } = await t.issueKey({ plan: "pro" });
    const params = { name: "pro" };
    expect(await call("PUT /admin/plans/[name]", { params, body: { ...LIMITS, revision: 1 } })).toMatchObject({
      data: { plan: { name: "pro", ...LIMITS } },
    });
    expect((await t.ask("/api/v1/market/instruments", { key })).headers.get("x-ratelimit-limit")).toBe("300");
    expect(await lastEntry()).toMatchObject({
      action: "plan.change",
      target: "pro",
      before: { rest_per_minute: PLAN_DEFAULTS.pro.restPerMinute },
      after: LIMITS,
    });
    const none = { ...LIMITS, rest_burst: 0, revision: 2 };
    expect(await call("PUT /admin/plans/[name]", { params, body: none })).toMatchObject({
      data: { parameter: "rest_burst" },
    });
  });

  test.each([
    ["month_units", [0, -1, 1.5, "5", 1_000_000_001]],
    ["month_hard", [null, "true", 1]],
    ["history_days", [0, -1, 0.5, "7", 36_501]],
    ["streams", [null, "yes"]],
    [
      "permissions",
      [null, { kind: "some" }, { kind: "tickers", values: ["eur"] }, { kind: "asset_classes", values: ["shares"] }],
    ],
    ["price", ["", "  ", "x".repeat(121), "one\ntwo", 49]],
    ["public", [null, "false"]],
    ["revision", [0, "1", 1.5]],
  ])("a plan with a wrong %s is refused, and names it", async (field, values) => {
    // So that the calls of this file stay below the limit of the portal.
    await t.clock.advance(20 * SECOND_MS);
    for (const value of values) {
      const body = { ...LIMITS, revision: null, [field]: value };
      const answer = await call("PUT /admin/plans/[name]", { params: { name: "wrong-plan" }, body });
      expect(answer, JSON.stringify(value)).toMatchObject({ status: 400, data: { parameter: field } });
    }
    const { [field]: _, ...without } = { ...LIMITS, revision: null } as Record<string, unknown>;
    const answer = await call("PUT /admin/plans/[name]", { params: { name: "wrong-plan" }, body: without });
    expect(answer).toMatchObject({ status: 400, data: { parameter: field } });
  });

  test("plans are in the order of their size: by rate, then by quota, and without a quota last", async () => {
    for (const [name, month_units] of [
      ["a-plan-unmetered", null],
      ["b-plan-large", 100_000],
      ["c-plan-small", 1_000],
    ] as const)
      await call("PUT /admin/plans/[name]", { params: { name }, body: { ...LIMITS, revision: null, month_units } });
    const names: string[] = (await call("GET /admin/plans")).data.items.map(({ name }: { name: string }) => name);
    const made = names.filter((name) => /^[abc]-plan-/.test(name));
    expect(made).toEqual(["c-plan-small", "b-plan-large", "a-plan-unmetered"]);
  });

  test("of two operators who change the same plan, the second is told, and writes over nothing", async () => {
    const put = (body: object) =>
      call("PUT /admin/plans/[name]", { params: { name: "contested" }, body: { ...LIMITS, ...body } });
    expect((await put({ revision: null })).data.plan.revision).toBe(1);
    const both = await Promise.all([put({ revision: 1, price: "first" }), put({ revision: 1, price: "second" })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [won] = both.filter(({ status }) => status === 200);
    const { items } = (await call("GET /admin/plans")).data;
    const stored = items.find(({ name }: { name: string }) => name === "contested");
    expect(stored).toMatchObject({ price: won?.data.plan.price, revision: 2 });
    for (const revision of [null, 1, 3]) expect(await put({ revision })).toMatchObject({ status: 409, message: "conflict" });
  });

  test("a key for billing reads the usage of all accounts and no prices, as long as its account is one of operators", async () => {
    const { data } = await call("POST /admin/usage/keys", { body: { name: "Biller" } });
    const read = (key: string, query = "?month=2026-01") => {
      const headers = { host: "localhost:3000", authorization: `Bearer ${key}` };
      return portalApi(new Request(`${ORIGIN}/api/portal/admin/usage${query}`, { headers }));
    };
    expect(await (await read(data.text)).json()).toMatchObject({ code: 0, data: { month: "2026-01", closed_at: null } });
    const csv = await read(data.text, "?month=2026-01&format=csv");
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(await csv.text()).toMatch(/^month,closed_at,account_id,account,plan,operation,calls,units,connections,messages\r\n/);
    expect(await t.ask("/api/v1/market/instruments", { key: data.text })).toMatchObject({
      body: { message: "insufficient_scope" },
    });
    for (const query of [
      "",
      "?month=2026-13",
      "?month=2026",
      "?month=1969-12",
      "?month=2026-01&format=xml",
      "?month=2026-01&x=1",
    ])
      expect((await read(data.text, query)).status, query).toBe(400);
    expect((await read((await t.issueKey()).text)).status).toBe(403);
    expect((await read("sw_test_nothing")).status).toBe(401);
    expect(await call("GET /admin/usage", { query: "?month=2026-01", cookie: developer })).toMatchObject({ status: 404 });
    const both = { account: "operators", scopes: ["billing:read", "market:read"] };
    await expect(t.issueKey(both)).rejects.toMatchObject({ data: { parameter: "scopes" } });
    await expect(t.issueKey({ account: "developers", scopes: ["billing:read"] })).rejects.toMatchObject({
      data: { parameter: "scopes" },
    });
    const { accountId } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: data.key.id } });
    await t.db.prisma.user.updateMany({ where: { accountId }, data: { operator: false } });
    expect((await read(data.text)).status).toBe(404);
    await t.db.prisma.user.updateMany({ where: { accountId }, data: { operator: true } });
  });

  test("an operator pins a provider of several and releases it, which each have an entry in the audit log", async () => {
    const pin = (provider: unknown) => call("PUT /admin/feeds/pin", { body: { provider } });
    expect(await pin("push")).toMatchObject({ status: 200, data: { provider: "push" } });
    expect(await readPin(t.db)).toBe("push");
    expect(await lastEntry()).toMatchObject({
      action: "feed.pin",
      target: "live",
      before: { provider: null },
      after: { provider: "push" },
    });
    for (const wrong of ["tiingo", "", 1])
      expect(await pin(wrong)).toMatchObject({ status: 400, data: { parameter: "provider" } });
    expect(await pin(null)).toMatchObject({ status: 200, data: { provider: null } });
    expect(await readPin(t.db)).toBeNull();
    expect(await lastEntry()).toMatchObject({ action: "feed.pin", after: { provider: null } });
  });

  test("an operator retires at once what the feed does not offer, and nothing else; each instrument has its entry in the audit log", async () => {
    const { live } = t.markets;
    const [first = "", second = ""] = live.catalogue.list().map(({ ticker }) => ticker);
    const { isOffered } = live;
    Object.assign(live, { isOffered: (ticker: string) => ticker !== first && ticker !== second });
    const listed = async () => {
      await (live.catalogue as ReloadableCatalogue).reload();
      return live.catalogue.list().map(({ ticker }) => ticker);
    };
    const retire = (tickers: readonly string[]) => call("POST /admin/feeds/not-offered/retire", { body: { tickers } });
    const { data }: { data: FeedsReport } = await call("GET /admin/feeds");
    expect(data.feeds[0]?.not_offered).toEqual([first, second]);
    const before = await listed();
    const refused = await retire([first, "EURUSD", "NOSUCH"]);
    expect(refused).toMatchObject({
      status: 400,
      data: { parameter: "tickers", detail: expect.stringContaining("EURUSD, NOSUCH") },
    });
    expect(await listed()).toEqual(before);
    expect(await retire([first, second])).toMatchObject({ status: 200, data: { tickers: [first, second] } });
    expect(await listed()).toEqual(before.filter((ticker) => ticker !== first && ticker !== second));
    expect((await call("GET /admin/audit")).data.items.slice(0, 2)).toMatchObject([
      { action: "instrument.retire", target: second },
      { action: "instrument.retire", target: first },
    ]);
    expect((await call("GET /admin/feeds")).data.feeds[0].not_offered).toEqual([]);
    await setRetired({ db: t.db, clock: t.clock, record: async () => undefined }, "live", [first, second], false);
    Object.assign(live, { isOffered });
    expect(await listed()).toEqual(before);
  });

  test("an operator closes a market until the override is lifted", async () => {
    const status = async () => {
      // As the service does when it receives the message.
      await (t.markets.live.catalogue as ReloadableCatalogue).reload();
      return (await t.ask("/api/v1/market/status?tickers=EURUSD")).body.data.items[0];
    };
    expect(await status()).toMatchObject({ calendar_state: "open" });
    const made = await call("POST /admin/calendars/[name]/overrides", { params: forex, body: HALT });
    expect(await status()).toMatchObject({ final_display_state: "closed", reason: "operator_override" });
    expect(await lastEntry()).toMatchObject({ action: "calendar.override", target: "forex", after: { note: "halt" } });
    const shown = (await call("GET /admin/calendars")).data.items.find(({ name }: { name: string }) => name === "forex");
    expect(shown.overrides).toEqual([made.data.override]);
    const params = { id: made.data.override.id };
    expect((await call("DELETE /admin/overrides/[id]", { params })).status).toBe(200);
    expect(await status()).toMatchObject({ calendar_state: "open" });
    expect(await lastEntry()).toMatchObject({
      action: "calendar.lift",
      target: "forex",
      before: { id: params.id, state: "closed" },
    });
  });

  test("an operator previews a calendar definition before it applies", async () => {
    const asked = await call("POST /admin/calendars/[name]/preview", { params: forex, body: { definition: { kind: "never" } } });
    expect(asked).toMatchObject({ status: 200, data: { now: { state: "closed" }, sessions: [], sessions_cut: false } });
    const later = await call("POST /admin/calendars/[name]/preview", {
      params: forex,
      body: { definition: { kind: "cycle", anchorS: 0, openS: 43_200, closedS: 43_200 }, from: "2031-12-24" },
    });
    expect(later.data.sessions).toHaveLength(15);
    expect(later.data.sessions[0]).toEqual({ opens_at: "2031-12-23T00:00:00.000Z", closes_at: "2031-12-23T12:00:00.000Z" });
    const definition = { kind: "cycle", anchorS: 0, openS: 30, closedS: 30 };
    const flipping = await call("POST /admin/calendars/[name]/preview", { params: forex, body: { definition } });
    expect(flipping.data.sessions).toHaveLength(PREVIEW_SESSIONS_MAX_COUNT);
    expect(flipping.data.sessions_cut).toBe(true);
    const wrong = await call("PUT /admin/calendars/[name]", { params: forex, body: { definition: { kind: "sometimes" } } });
    expect(wrong).toMatchObject({
      status: 400,
      data: { parameter: "definition", detail: expect.stringContaining("`definition.kind` must be one of ") },
    });
    const unknown = await call("PUT /admin/calendars/[name]", { params: { name: "mars" }, body: ALWAYS });
    expect(unknown).toMatchObject({ status: 404 });
  });

  test("an operator reads the stored history of an instrument, and is told what cannot be asked", async () => {
    const params = { ticker: "USDPLN" };
    expect((await call("GET /admin/data")).data.items).toContainEqual(
      expect.objectContaining({ ticker: "USDPLN", rows: 0, first_at: null, years: 0 }),
    );
    expect(await call("GET /admin/data/[ticker]", { params })).toMatchObject({
      status: 200,
      data: { ticker: "USDPLN", imports: [] },
    });
    expect((await call("GET /admin/data/[ticker]/years", { params })).data).toEqual({ items: [], next_before: null });
    const answers = [
      call("GET /admin/data/[ticker]", { params: { ticker: "NOPE" } }),
      call("GET /admin/data/[ticker]/years", { params, query: "?before=20240" }),
      call("GET /admin/data/[ticker]/suspects", { params, query: "?year=1969" }),
      call("GET /admin/data/[ticker]/comparison", { params, query: "?a=0&b=1" }),
      call("GET /admin/data/[ticker]/layers", { params, query: "?year=2024" }),
      call("GET /admin/data/[ticker]/layers", { params: { ticker: "NOPE" }, query: "?year=2024" }),
      call("GET /admin/data/[ticker]/past", { params, query: "?year=2024&as_of=yesterday" }),
    ];
    expect((await Promise.all(answers)).map(({ message }) => message)).toEqual([
      "not_found",
      "invalid_parameter",
      "invalid_parameter",
      "invalid_parameter",
      "invalid_parameter",
      "not_found",
      "invalid_parameter",
    ]);
  });

  test("an operator sees how far behind the feeds are, and which tickers are quoted", async () => {
    const { live } = t.markets;
    const total = live.catalogue.list().length;
    const now = t.clock.now();
    live.quote("EURUSD", 1.1, 1.1001, now - 250);
    live.quote("GBPUSD", 1.3, 1.3001, now - DAY_MS);
    t.metrics.ticks("live", [null, null, "duplicate"]);
    const backfill = { filesDone: 1, filesFailed: 0, file: "b.csv", step: "importing", share: 0.4, rows: 500, readMs: 250 };
    const progress = { state: "running", files: 2, problem: null, doubts: [], ...backfill } as const;
    await beginBackfill(t, "live", progress);
    const { data }: { data: FeedsReport } = await call("GET /admin/feeds");
    expect(data.feeds.map(({ venue }) => venue)).toEqual(["live", "sandbox"]);
    expect(data.feeds[0]).toMatchObject({
      provider: null,
      problem: null,
      newest_ticker: "EURUSD",
      lag_ms: 250,
      taken: 2,
      refused: 1,
      reasons: { duplicate: 1 },
      tickers: total,
      live: 1,
      stale: 1,
      missing: total - 2,
    });
    expect(data.feeds[1]).toMatchObject({ provider: "sandbox", newest_ticker: null, lag_ms: null, taken: 0, tickers: total });
    expect(data.feeds[0]?.gaps).toBeNull();
    expect(data.feeds[1]?.gaps).toMatchObject({ count: 0, threshold_s: 120 });
    expect(data.backfills).toMatchObject([
      { venue: "live", state: "running", files: 2, files_done: 1, file: "b.csv", share: 0.4, rows: 500, rows_per_s: 2_000 },
    ]);
  });

  test("an operator sees which key pushed last, from where, and when it was refused because it has ended", async () => {
    const pusherOf = async () => ((await call("GET /admin/feeds")).data as FeedsReport).feeds.map(({ pusher }) => pusher);
    const { id: accountId } = await putAccount(t.keyContext, "Feeders");
    const settings = { accountId, venue: "live", scopes: ["market:ingest"], origins: [], expiresAt: null } as const;
    const { record: key } = await createKey(t.keyContext, { ...settings, name: "Feeder" });
    await createKey(t.keyContext, { ...settings, name: "Unused" });
    expect(await pusherOf()).toEqual([null, null]);
    const at = new Date(t.clock.now());
    await t.db.prisma.apiKey.update({ where: { id: key.id }, data: { lastUsedAt: at, lastUsedAddress: "203.0.113.0/24" } });
    const pusher = { key: "Feeder", account: "Feeders", at: at.toISOString(), address: "203.0.113.0/24", refused: false };
    expect(await pusherOf()).toEqual([pusher, null]);
    await t.db.prisma.apiKey.update({ where: { id: key.id }, data: { refusedAt: at, refusedAddress: "198.51.100.0/24" } });
    expect((await pusherOf())[0]).toEqual({ ...pusher, address: "198.51.100.0/24", refused: true });
    await t.db.prisma.account.delete({ where: { id: accountId } });
  });

  test("an operator undoes an import and puts it back, each once and with an entry in the audit log", async () => {
    const progress = { state: "done", files: 1, filesDone: 1, filesFailed: 0, file: "a.csv", step: "", share: 1 } as const;
    const { number } = await beginBackfill(t, "live", { ...progress, rows: 1, readMs: 1, problem: null, doubts: [] });
    await inTransaction(t.db.pool, (client) =>
      storeBatch(client, t.db.segments, number, [testKline("EURUSD", "M1", 1_709_683_200)], t.clock.now()),
    );
    const undo = (text = String(number)) => call("POST /admin/imports/[number]/undo", { params: { number: text } });
    const redo = (text = String(number)) => call("POST /admin/imports/[number]/redo", { params: { number: text } });
    const { status, data } = await undo();
    expect({ status, data }).toMatchObject({ status: 200, data: { series: [{ ticker: "EURUSD", removed: 1, changed: 0 }] } });
    const left = async () =>
      (await t.db.pool.query("SELECT sum(rows)::integer AS left FROM history_visible WHERE ticker = 'EURUSD'")).rows;
    expect(await left()).toEqual([{ left: 0 }]);
    expect(await lastEntry()).toMatchObject({
      action: "history.undo",
      target: String(number),
      actor: expect.stringContaining("@example.com"),
    });
    const [listed] = (await call("GET /admin/feeds")).data.backfills;
    expect(listed).toMatchObject({ number, undone_at: expect.any(String), series: [{ ticker: "EURUSD", stored: 1 }] });
    expect(await undo()).toMatchObject({ status: 400, message: "invalid_parameter" });
    expect(await redo()).toMatchObject({ status: 200, data: { series: [{ ticker: "EURUSD", added: 1 }] } });
    expect(await left()).toEqual([{ left: 1 }]);
    expect(await lastEntry()).toMatchObject({ action: "history.redo", target: String(number) });
    expect((await call("GET /admin/feeds")).data.backfills[0]).toMatchObject({ number, undone_at: null });
    expect(await redo()).toMatchObject({ status: 400, message: "invalid_parameter" });
    for (const unknown of ["999999", "0", "first"])
      for (const change of [undo, redo]) expect(await change(unknown)).toMatchObject({ status: 404, message: "not_found" });
  });

  test("answers to an operator use one naming style", async () => {
    await call("POST /admin/calendars/[name]/overrides", { params: forex, body: HALT });
    for (const list of ["accounts", "plans", "calendars", "feeds", "audit"] as const) {
      const { data } = await call(`GET /admin/${list}`);
      // A definition and the details of the audit log are documents with their own names.
      const text = JSON.stringify(data, (name, value) => (["definition", "before", "after"].includes(name) ? undefined : value));
      expect(text.match(/"[a-z]+[A-Z]\w*":/g)).toBeNull();
    }
  });

  test("a name in the path is decoded, once, after the path was divided into its parts", async () => {
    const put = (name: string) => call("PUT /admin/plans/[name]", { params: { name }, body: { ...LIMITS, revision: null } });
    expect(await put("%63oded-%70lan")).toMatchObject({ status: 200, data: { plan: { name: "coded-plan" } } });
    expect(await put("constructor")).toMatchObject({ status: 200, data: { plan: { name: "constructor" } } });
    for (const name of ["%2563oded", "a%2Fb", "__proto__", "%20"])
      expect(await put(name)).toMatchObject({ status: 400, message: "invalid_parameter", data: { parameter: "name" } });
  });

  test("an invalid name in the path is answered as not found", async () => {
    for (const name of ["mars", "%00", "%ED%A0%80", "%", "x".repeat(10_000)]) {
      const params = { name };
      expect(await call("PUT /admin/calendars/[name]", { params, body: ALWAYS })).toMatchObject({ status: 404 });
      expect(await call("POST /admin/calendars/[name]/overrides", { params, body: HALT })).toMatchObject({ status: 404 });
      expect(await call("DELETE /admin/overrides/[id]", { params: { id: name } })).toMatchObject({ status: 404 });
      const change = await call("PATCH /admin/accounts/[id]", { params: { id: name }, body: { revision: 1 } });
      expect(change).toMatchObject({ status: 404 });
    }
  });
});

test("an operator reads one account with its keys and their use, which its owner sees in the activity", async () => {
  const { id } = await putAccount(t.keyContext, "one account");
  await t.issueKey({ account: "one account", name: "Shop" });
  const { status, data } = await call("GET /admin/accounts/[id]", { params: { id } });
  expect(status).toBe(200);
  expect(data).toMatchObject({ account: { id, name: "one account", active_keys: 1 }, keys: [{ name: "Shop" }], use: [] });
  expect(data.usage.items).toHaveLength(30);
  expect(data.keys[0]).not.toHaveProperty("text");
  expect(await lastEntry()).toMatchObject({ action: "access.read", target: "the account" });
  for (const unknown of [UNKNOWN_ID, "not-an-id"])
    expect(await call("GET /admin/accounts/[id]", { params: { id: unknown } })).toMatchObject({
      status: 404,
      message: "not_found",
    });
});

test("an operator revokes a key of an account once its name was typed, which the account's activity and its owner's mail say", async () => {
  const { id } = await putAccount(t.keyContext, "leaky");
  const { id: otherId } = await putAccount(t.keyContext, "another");
  await openPortalSession(t.db, id, t.clock.now());
  const { record, text } = await t.issueKey({ account: "leaky", name: "Shop" });
  const revoke = (account: string, confirm: string) =>
    call("POST /admin/accounts/[id]/keys/[key]/revoke", { params: { id: account, key: record.id }, body: { confirm } });
  expect(await revoke(otherId, "Shop")).toMatchObject({ status: 404 });
  expect(await revoke(id, "Ship")).toMatchObject({ status: 400, data: { parameter: "confirm" } });
  expect(await t.ask("/api/v1/key", { key: text })).toMatchObject({ status: 200 });
  expect(await revoke(id, "Shop")).toMatchObject({ status: 200, data: { key: { state: "revoked" } } });
  await t.settle();
  expect(await t.ask("/api/v1/key", { key: text })).toMatchObject({ status: 401 });
  expect(await lastEntry()).toMatchObject({ action: "key.revoke", target: record.id, actor: expect.stringContaining("@") });
  expect(await t.db.prisma.auditEntry.count({ where: { accountId: id, action: "key.revoke" } })).toBe(1);
  const mails = t.capturedMails.list().filter(({ to, subject }) => to === `${id}@example.com` && subject === "API key revoked");
  expect(mails.map((mail) => mail.text)).toEqual([expect.stringContaining("By: an operator of this installation")]);
});

test("an operator reads the requests of an account with an error, by its code, which its owner sees in the activity", async () => {
  const { id } = await putAccount(t.keyContext, "failing");
  await t.db.pool.query(
    `INSERT INTO request_log (account_id, at, key_id, request_id, operation, method, path, status, code, latency_us, address, user_agent)
     SELECT $1, $2, 'k1', 'r' || code, 'klines', 'GET', '/', code / 100, code, 1, '', '' FROM unnest($3::int[]) AS code`,
    [id, new Date(t.clock.now()), [40001, 40002]],
  );
  const { data } = await call("GET /admin/accounts/[id]/logs", { params: { id }, query: "?status=40002" });
  expect(data.items).toMatchObject([{ code: 40002, request_id: "r40002" }]);
  expect(await lastEntry()).toMatchObject({ action: "access.read", target: "the log" });
  expect(await call("GET /admin/accounts/[id]/logs", { params: { id: UNKNOWN_ID } })).toMatchObject({ status: 404 });
});

test("the health has every node that reported, the venues, the size of the database and the last backup", async () => {
  const { registry } = t.metrics;
  // Keeps what the next line sets.
  Object.assign(registry.getSingleMetric("nodejs_eventloop_lag_seconds") ?? {}, { collect: () => undefined });
  (registry.getSingleMetric("nodejs_eventloop_lag_p99_seconds") as Gauge).set((LOOP_SAMPLE_MS + 25) / SECOND_MS);
  const well = { ...t, disk: () => null, certificateEnd: () => null, mailProblem: () => null, version: "1.2.3" };
  const report = createNodeReport(well);
  const ending = createNodeReport({ ...well, certificateEnd: () => t.clock.now() + 3 * DAY_MS });
  expect((await report()).warnings).toEqual({ mail_server: null, certificate: null, history_files: null, provider_token: null });
  expect((await ending()).warnings).toMatchObject({ certificate: "The certificate of PUBLIC_URL ends in 3 days." });
  for (const name of ["edge-1", "edge-2"]) await writeNodeReport(t.db.pool, { id: randomUUID(), name }, await report());
  const at = new Date(t.clock.now()).toISOString();
  const run = { started_at: at, ended_at: at, bytes: 10, rows: 20, problem: null };
  await recordBackup(t.db.pool, run);
  const { data } = await call("GET /admin/health");
  expect(data.nodes).toMatchObject([
    { name: "edge-1", version: "1.2.3", silent: false, connections: 0 },
    { name: "edge-2", silent: false },
  ]);
  expect(data.nodes[0].loop_lag_ms).toBeCloseTo(25);
  expect(data.venues.map(({ venue }: { venue: string }) => venue).sort()).toEqual(["live", "sandbox"]);
  expect(data.database_bytes).toBeGreaterThan(0);
  expect(data.backups).toEqual({ last: run, failed: null, max_age_s: 7 * DAY_S });
});

test("a provider's token that ends soon is in the report of its node, and among what operators are warned of", async () => {
  const ending = (leftMs: number) => {
    const { live } = t.markets;
    const expires_at = new Date(t.clock.now() + leftMs).toISOString();
    const feed = () =>
      ({ ...live.feed(), providers: [{ name: "ctrader", expires_at }] }) as unknown as ReturnType<typeof live.feed>;
    const markets = { ...t.markets, live: { ...live, feed } };
    return createNodeReport({
      ...t,
      markets,
      disk: () => null,
      certificateEnd: () => null,
      mailProblem: () => null,
      version: "1.2.3",
    })();
  };
  expect((await ending(3 * DAY_MS)).warnings).toMatchObject({ provider_token: null });
  expect((await ending(-1)).warnings).toMatchObject({ provider_token: "The token of ctrader has ended." });
  await writeNodeReport(t.db.pool, { id: randomUUID(), name: "edge-3" }, await ending(DAY_MS));
  const problems = [expect.stringContaining("The token of ctrader ends in 1 day.")];
  expect(await failingChecks(t.db.pool, t.clock, 0)).toContainEqual({ name: "provider_token", problems, began: null });
});

test("the settings of a provider are checked as they were typed, and answered without their secrets", async () => {
  const check = (body: object) => call("POST /admin/feeds/check", { body });
  expect(await check({ provider: "oanda", settings: { OANDA_TOKEN: "secret-token" } })).toMatchObject({
    status: 400,
    data: { parameter: "OANDA_ACCOUNT" },
  });
  expect(await check({ provider: "nobody", settings: {} })).toMatchObject({ status: 400, data: { parameter: "provider" } });
  const port = { FIX_HOST: "127.0.0.1", FIX_SENDER: "a", FIX_TARGET: "b", FIX_PASSWORD: "secret-word" };
  expect(await check({ provider: "fix", settings: { ...port, FIX_PORT: "70000" } })).toMatchObject({
    status: 400,
    data: { parameter: "FIX_PORT" },
  });
  const { status, data } = await check({ provider: "fix", settings: { ...port, FIX_PORT: "1" } });
  expect(status).toBe(200);
  expect(data.findings.at(-1)).toMatchObject({ step: "connection", state: "failed", next: expect.any(String) });
  expect(JSON.stringify([data, t.logged])).not.toContain("secret-");
});

test("the audit log is filtered by kind and by text, also on its older pages", async () => {
  const find = async (query: string) =>
    (await call("GET /admin/audit", { query })).data.items as { action: string; target: string }[];
  await call("PUT /admin/plans/[name]", { params: { name: "searched-plan" }, body: { ...LIMITS, revision: null } });
  const plansOnly = await find("?kind=plan");
  expect(plansOnly.length).toBeGreaterThan(0);
  expect(plansOnly.every(({ action }) => action.startsWith("plan."))).toBe(true);
  expect((await find("?q=SEARCHED-plan")).map(({ target }) => target)).toEqual(["searched-plan"]);
  // These are no wildcards.
  expect(await find("?q=%25")).toEqual([]);
  expect(await find("?kind=access&q=searched-plan")).toEqual([]);
  expect(await call("GET /admin/audit", { query: "?kind=everything" })).toMatchObject({
    status: 400,
    message: "invalid_parameter",
  });
});
