import { randomUUID } from "node:crypto";
import { encode } from "next-auth/jwt";
import type { Gauge } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as account from "#app/api/portal/admin/accounts/[id]/route";
import * as accounts from "#app/api/portal/admin/accounts/route";
import * as auditLog from "#app/api/portal/admin/audit/route";
import * as overrides from "#app/api/portal/admin/calendars/[name]/overrides/route";
import * as preview from "#app/api/portal/admin/calendars/[name]/preview/route";
import * as calendar from "#app/api/portal/admin/calendars/[name]/route";
import * as calendars from "#app/api/portal/admin/calendars/route";
import * as comparison from "#app/api/portal/admin/data/[ticker]/comparison/route";
import * as layers from "#app/api/portal/admin/data/[ticker]/layers/route";
import * as past from "#app/api/portal/admin/data/[ticker]/past/route";
import * as dataTicker from "#app/api/portal/admin/data/[ticker]/route";
import * as suspects from "#app/api/portal/admin/data/[ticker]/suspects/route";
import * as dataYears from "#app/api/portal/admin/data/[ticker]/years/route";
import * as stored from "#app/api/portal/admin/data/route";
import * as feedPin from "#app/api/portal/admin/feeds/pin/route";
import * as feeds from "#app/api/portal/admin/feeds/route";
import * as health from "#app/api/portal/admin/health/route";
import * as redo from "#app/api/portal/admin/imports/[number]/redo/route";
import * as undo from "#app/api/portal/admin/imports/[number]/undo/route";
import * as incidentNote from "#app/api/portal/admin/incident-notes/[id]/route";
import * as incidentNotes from "#app/api/portal/admin/incident-notes/route";
import * as override from "#app/api/portal/admin/overrides/[id]/route";
import * as plan from "#app/api/portal/admin/plans/[name]/route";
import * as plans from "#app/api/portal/admin/plans/route";
import { putAccount } from "#lib/access/accounts";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { type FeedsReport, PREVIEW_SESSIONS_MAX_COUNT } from "#lib/contract/portal-admin";
import { inTransaction } from "#lib/history/transaction";
import { beginBackfill } from "#lib/market/backfills";
import { recordBackup } from "#lib/market/backup-runs";
import type { ReloadableCatalogue } from "#lib/market/catalogue";
import { readPin } from "#lib/market/feed-pin";
import { storeBatch } from "#lib/market/kline-batches";
import { createNodeReport } from "#lib/market/node-report";
import { writeNodeReport } from "#lib/market/node-reports";
import { LOOP_SAMPLE_MS } from "#lib/metrics";
import { openPortalSession } from "#lib/testing/portal-session";
import { DAY_MS, DAY_S, SECOND_MS } from "#lib/units";
import { testKline } from "#server/testing/market";
import { TEST_SECRET, type TestRuntime, testRuntime } from "#server/testing/runtime";

const ORIGIN = "http://localhost:3000";
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

type RouteFunction = (request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response>;
interface Call {
  readonly route: RouteFunction;
  readonly method?: string;
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
  await t.db.prisma.user.update({ where: { accountId: id }, data: { operator: isOperator, totpSince: new Date(t.clock.now()) } });
  await t.db.prisma.portalSession.update({ where: { id: sid }, data: { lastSeenAt: new Date(t.clock.now()) } });
  return `spotwire.session=${await encode({ token: { sid }, secret: TEST_SECRET })}`;
}

/** Calls a route as a browser would, by default as the operator. */
async function call({ route, method = "GET", params = {}, body = {}, query = "", cookie = operator, origin = ORIGIN }: Call) {
  const headers = { host: "localhost:3000", origin, cookie, "content-type": "application/json" };
  const init = { method, headers, ...(method !== "GET" && { body: JSON.stringify(body) }) };
  const response = await route(new Request(`${ORIGIN}/api/portal${query}`, init), { params: Promise.resolve(params) });
  const answer = await response.json();
  await t.settle();
  return { status: response.status, message: answer.message, data: answer.data };
}

const LIMITS = {
  ...{ rest_per_minute: 300, rest_burst: 30, stream_connections: 3, subscriptions_per_connection: 30 },
  live_access: false,
};
const HALT = { state: "closed", starts_at: null, ends_at: null, note: "halt" };
const NOTE = { title: "Late prices", text: "", impact: "degraded", starts_at: "2026-01-05T10:00:00Z", ends_at: null };
const ALWAYS = { definition: { kind: "always" } };
const forex = { name: "forex" };
const ROUTES: readonly (Call & { readonly name: string })[] = [
  { name: "GET accounts", route: accounts.GET },
  { name: "PATCH accounts/[id]", route: account.PATCH, method: "PATCH", params: { id: UNKNOWN_ID }, body: { plan: "pro" } },
  { name: "GET accounts/[id]", route: account.GET, params: { id: UNKNOWN_ID } },
  { name: "GET health", route: health.GET },
  { name: "GET plans", route: plans.GET },
  { name: "PUT plans/[name]", route: plan.PUT, method: "PUT", params: { name: "free" }, body: LIMITS },
  { name: "GET calendars", route: calendars.GET },
  { name: "PUT calendars/[name]", route: calendar.PUT, method: "PUT", params: forex, body: ALWAYS },
  { name: "POST preview", route: preview.POST, method: "POST", params: forex, body: ALWAYS },
  { name: "POST overrides", route: overrides.POST, method: "POST", params: forex, body: HALT },
  { name: "DELETE overrides/[id]", route: override.DELETE, method: "DELETE", params: { id: UNKNOWN_ID } },
  { name: "GET incident-notes", route: incidentNotes.GET },
  { name: "POST incident-notes", route: incidentNotes.POST, method: "POST", body: NOTE },
  { name: "PUT incident-notes/[id]", route: incidentNote.PUT, method: "PUT", params: { id: UNKNOWN_ID }, body: NOTE },
  { name: "DELETE incident-notes/[id]", route: incidentNote.DELETE, method: "DELETE", params: { id: UNKNOWN_ID } },
  { name: "GET feeds", route: feeds.GET },
  { name: "PUT feeds/pin", route: feedPin.PUT, method: "PUT", body: { provider: null } },
  { name: "GET data", route: stored.GET },
  { name: "GET data/[ticker]", route: dataTicker.GET, params: { ticker: "EURUSD" } },
  { name: "GET years", route: dataYears.GET, params: { ticker: "EURUSD" } },
  { name: "GET suspects", route: suspects.GET, params: { ticker: "EURUSD" }, query: "?year=2024" },
  { name: "GET comparison", route: comparison.GET, params: { ticker: "EURUSD" }, query: "?a=1&b=feed" },
  { name: "POST imports/[number]/undo", route: undo.POST, method: "POST", params: { number: "1" } },
  { name: "POST imports/[number]/redo", route: redo.POST, method: "POST", params: { number: "1" } },
  { name: "GET audit", route: auditLog.GET },
];

const lastEntry = async () => (await call({ route: auditLog.GET })).data.items[0];

describe.each(ROUTES)("$name", (route) => {
  test(`${route.name} does not exist for users who are not operators, and asks others to sign in`, async () => {
    const changes = () => t.db.prisma.auditEntry.count({ where: { NOT: { action: { startsWith: "access." } } } });
    const before = await changes();
    expect(await call({ ...route, cookie: developer })).toMatchObject({ status: 404, message: "not_found" });
    expect(await call({ ...route, cookie: "spotwire.session=made.up" })).toMatchObject({ status: 401, message: "unauthorized" });
    expect(await changes()).toBe(before);
  });
});

test.each(ROUTES.filter(({ method }) => method !== undefined))("$name refuses pages of another origin", async (route) => {
  const refused = await call({ ...route, origin: "https://elsewhere.example.com" });
  expect(refused).toMatchObject({ status: 403, message: "origin_not_allowed" });
});

describe("an operator", () => {
  test("an operator loses access with the next call after the role was removed", async () => {
    const cookie = await signIn("for a while", true);
    expect((await call({ route: plans.GET, cookie })).status).toBe(200);
    await t.db.prisma.user.updateMany({ where: { account: { name: "for a while" } }, data: { operator: false } });
    expect((await call({ route: plans.GET, cookie })).status).toBe(404);
  });

  test("an operator finds an account and puts it on another plan, which applies to the next answer", async () => {
    const { text: key } = await t.issueKey({ account: "moved", plan: "free" });
    const { data } = await call({ route: accounts.GET, query: "?q=moved" });
    const id = data.items[0].id;
    const changed = await call({ route: account.PATCH, method: "PATCH", params: { id }, body: { plan: "standard" } });
    expect(changed).toMatchObject({ status: 200, data: { account: { id, plan: "standard" } } });
    const { headers } = await t.ask("/api/v1/market/instruments", { key });
    expect(headers.get("x-ratelimit-limit")).toBe(String(PLAN_DEFAULTS.standard.restPerMinute));
    expect(await lastEntry()).toMatchObject({
      ...{ action: "account.change", target: "moved", actor: expect.stringContaining("@example.com") },
      ...{ before: { plan: "free" }, after: { plan: "standard" } },
    });
  });

  test("an operator cannot change fields of an account that the form does not have", async () => {
    const params = { id: (await call({ route: accounts.GET, query: "?q=developers" })).data.items[0].id };
    for (const body of [{ name: "mine" }, { plan: "pro", operator: true }])
      expect(await call({ route: account.PATCH, method: "PATCH", params, body })).toMatchObject({ message: "invalid_parameter" });
    expect((await call({ route: accounts.GET, query: "?q=developers" })).data.items[0]).toMatchObject({ plan: "free" });
  });

  test("an operator changes the limits of a plan for all of its accounts", async () => {
    const { text: key } = await t.issueKey({ plan: "pro" });
    const params = { name: "pro" };
    expect(await call({ route: plan.PUT, method: "PUT", params, body: LIMITS })).toMatchObject({
      data: { plan: { name: "pro", ...LIMITS } },
    });
    expect((await t.ask("/api/v1/market/instruments", { key })).headers.get("x-ratelimit-limit")).toBe("300");
    expect(await lastEntry()).toMatchObject({
      action: "plan.change",
      target: "pro",
      before: { rest_per_minute: PLAN_DEFAULTS.pro.restPerMinute },
      after: LIMITS,
    });
    const none = { ...LIMITS, rest_burst: 0 };
    expect(await call({ route: plan.PUT, method: "PUT", params, body: none })).toMatchObject({
      data: { parameter: "rest_burst" },
    });
  });

  test("an operator pins a provider of several and releases it, which each have an entry in the audit log", async () => {
    const pin = (provider: unknown) => call({ route: feedPin.PUT, method: "PUT", body: { provider } });
    expect(await pin("push")).toMatchObject({ status: 200, data: { provider: "push" } });
    expect(await readPin(t.db)).toBe("push");
    expect(await lastEntry()).toMatchObject({
      ...{ action: "feed.pin", target: "live", before: { provider: null }, after: { provider: "push" } },
    });
    for (const wrong of ["tiingo", "", 1])
      expect(await pin(wrong)).toMatchObject({ status: 400, data: { parameter: "provider" } });
    expect(await pin(null)).toMatchObject({ status: 200, data: { provider: null } });
    expect(await readPin(t.db)).toBeNull();
    expect(await lastEntry()).toMatchObject({ action: "feed.pin", after: { provider: null } });
  });

  test("an operator closes a market until the override is lifted", async () => {
    const status = async () => {
      // As the service does when it receives the message.
      await (t.markets.live.catalogue as ReloadableCatalogue).reload();
      return (await t.ask("/api/v1/market/status?tickers=EURUSD")).body.data.items[0];
    };
    expect(await status()).toMatchObject({ calendar_state: "open" });
    const made = await call({ route: overrides.POST, method: "POST", params: forex, body: HALT });
    expect(await status()).toMatchObject({ final_display_state: "closed", reason: "operator_override" });
    expect(await lastEntry()).toMatchObject({ action: "calendar.override", target: "forex", after: { note: "halt" } });
    const shown = (await call({ route: calendars.GET })).data.items.find(({ name }: { name: string }) => name === "forex");
    expect(shown.overrides).toEqual([made.data.override]);
    const params = { id: made.data.override.id };
    expect((await call({ route: override.DELETE, method: "DELETE", params })).status).toBe(200);
    expect(await status()).toMatchObject({ calendar_state: "open" });
    expect(await lastEntry()).toMatchObject({
      action: "calendar.lift",
      target: "forex",
      before: { id: params.id, state: "closed" },
    });
  });

  test("an operator previews a calendar definition before it applies", async () => {
    const asked = await call({ route: preview.POST, method: "POST", params: forex, body: { definition: { kind: "never" } } });
    expect(asked).toMatchObject({ status: 200, data: { now: { state: "closed" }, sessions: [], sessions_cut: false } });
    const definition = { kind: "cycle", anchorS: 0, openS: 30, closedS: 30 };
    const flipping = await call({ route: preview.POST, method: "POST", params: forex, body: { definition } });
    expect(flipping.data.sessions).toHaveLength(PREVIEW_SESSIONS_MAX_COUNT);
    expect(flipping.data.sessions_cut).toBe(true);
    const wrong = await call({ route: calendar.PUT, method: "PUT", params: forex, body: { definition: { kind: "sometimes" } } });
    expect(wrong).toMatchObject({
      status: 400,
      data: { parameter: "definition", detail: expect.stringContaining("`definition.kind` must be one of ") },
    });
    const unknown = await call({ route: calendar.PUT, method: "PUT", params: { name: "mars" }, body: ALWAYS });
    expect(unknown).toMatchObject({ status: 404 });
  });

  test("an operator reads the stored history of an instrument, and is told what cannot be asked", async () => {
    const params = { ticker: "USDPLN" };
    expect((await call({ route: stored.GET })).data.items).toContainEqual(
      expect.objectContaining({ ticker: "USDPLN", rows: 0, first_at: null, years: 0 }),
    );
    expect(await call({ route: dataTicker.GET, params })).toMatchObject({ status: 200, data: { ticker: "USDPLN", imports: [] } });
    expect((await call({ route: dataYears.GET, params })).data).toEqual({ items: [], next_before: null });
    const answers = [
      call({ route: dataTicker.GET, params: { ticker: "NOPE" } }),
      call({ route: dataYears.GET, params, query: "?before=20240" }),
      call({ route: suspects.GET, params, query: "?year=1969" }),
      call({ route: comparison.GET, params, query: "?a=0&b=1" }),
      call({ route: layers.GET, params, query: "?year=2024" }),
      call({ route: layers.GET, params: { ticker: "NOPE" }, query: "?year=2024" }),
      call({ route: past.GET, params, query: "?year=2024&as_of=yesterday" }),
    ];
    expect((await Promise.all(answers)).map(({ message }) => message)).toEqual([
      ...["not_found", "invalid_parameter", "invalid_parameter", "invalid_parameter"],
      ...["invalid_parameter", "not_found", "invalid_parameter"],
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
    const { data }: { data: FeedsReport } = await call({ route: feeds.GET });
    expect(data.feeds.map(({ venue }) => venue)).toEqual(["live", "sandbox"]);
    expect(data.feeds[0]).toMatchObject({
      ...{ provider: null, problem: null, newest_ticker: "EURUSD", lag_ms: 250, taken: 2, refused: 1 },
      reasons: { duplicate: 1 },
      ...{ tickers: total, live: 1, stale: 1, missing: total - 2 },
    });
    expect(data.feeds[1]).toMatchObject({ provider: "sandbox", newest_ticker: null, lag_ms: null, taken: 0 });
    expect(data.feeds[0]?.gaps).toBeNull();
    expect(data.feeds[1]?.gaps).toMatchObject({ count: 0, threshold_s: 120 });
    expect(data.backfills).toMatchObject([
      { venue: "live", state: "running", files: 2, files_done: 1, file: "b.csv", share: 0.4, rows: 500, rows_per_s: 2_000 },
    ]);
  });

  test("an operator undoes an import and puts it back, each once and with an entry in the audit log", async () => {
    const progress = { state: "done", files: 1, filesDone: 1, filesFailed: 0, file: "a.csv", step: "", share: 1 } as const;
    const { number } = await beginBackfill(t, "live", { ...progress, rows: 1, readMs: 1, problem: null, doubts: [] });
    await inTransaction(t.db.pool, (client) =>
      storeBatch(client, t.db.segments, number, [testKline("EURUSD", "M1", 1_709_683_200)], t.clock.now()),
    );
    const undoing = { route: undo.POST, method: "POST", params: { number: String(number) } };
    const { status, data } = await call(undoing);
    expect({ status, data }).toMatchObject({ status: 200, data: { series: [{ ticker: "EURUSD", removed: 1, restored: 0 }] } });
    const left = async () =>
      (await t.db.pool.query("SELECT sum(rows)::integer AS left FROM history_visible WHERE ticker = 'EURUSD'")).rows;
    expect(await left()).toEqual([{ left: 0 }]);
    expect(await lastEntry()).toMatchObject({
      action: "history.undo",
      target: String(number),
      actor: expect.stringContaining("@example.com"),
    });
    const [listed] = (await call({ route: feeds.GET })).data.backfills;
    expect(listed).toMatchObject({ number, undone_at: expect.any(String), series: [{ ticker: "EURUSD", stored: 1 }] });
    expect(await call(undoing)).toMatchObject({ status: 400, message: "invalid_parameter" });
    const redoing = { ...undoing, route: redo.POST };
    expect(await call(redoing)).toMatchObject({ status: 200, data: { series: [{ ticker: "EURUSD", removed: 1 }] } });
    expect(await left()).toEqual([{ left: 1 }]);
    expect(await lastEntry()).toMatchObject({ action: "history.redo", target: String(number) });
    expect((await call({ route: feeds.GET })).data.backfills[0]).toMatchObject({ number, undone_at: null });
    expect(await call(redoing)).toMatchObject({ status: 400, message: "invalid_parameter" });
    for (const unknown of ["999999", "0", "first"])
      for (const wrong of [undoing, redoing])
        expect(await call({ ...wrong, params: { number: unknown } })).toMatchObject({ status: 404, message: "not_found" });
  });

  test("answers to an operator use one naming style", async () => {
    await call({ route: overrides.POST, method: "POST", params: forex, body: HALT });
    for (const { route } of [accounts, plans, calendars, feeds, auditLog].map(({ GET }) => ({ route: GET }))) {
      const { data } = await call({ route });
      // A definition and the details of the audit log are documents with their own names.
      const text = JSON.stringify(data, (name, value) => (["definition", "before", "after"].includes(name) ? undefined : value));
      expect(text.match(/"[a-z]+[A-Z]\w*":/g)).toBeNull();
    }
  });

  test("an invalid name in the path is answered as not found", async () => {
    for (const name of ["mars", "\0", "\ud800", "x".repeat(10_000)]) {
      const params = { name };
      expect(await call({ route: calendar.PUT, method: "PUT", params, body: ALWAYS })).toMatchObject({ status: 404 });
      expect(await call({ route: overrides.POST, method: "POST", params, body: HALT })).toMatchObject({ status: 404 });
      expect(await call({ route: override.DELETE, method: "DELETE", params: { id: name } })).toMatchObject({ status: 404 });
      expect(await call({ route: account.PATCH, method: "PATCH", params: { id: name } })).toMatchObject({ status: 404 });
    }
  });
});

test("an operator reads one account with its keys and their use, which its owner sees in the activity", async () => {
  const { id } = await putAccount(t.keyContext, "one account");
  await t.issueKey({ account: "one account", name: "Shop" });
  const { status, data } = await call({ route: account.GET, params: { id } });
  expect(status).toBe(200);
  expect(data).toMatchObject({ account: { id, name: "one account", active_keys: 1 }, keys: [{ name: "Shop" }], use: [] });
  expect(data.usage.items).toHaveLength(30);
  expect(data.keys[0]).not.toHaveProperty("text");
  expect(await lastEntry()).toMatchObject({ action: "access.read", target: "the account" });
  for (const unknown of [UNKNOWN_ID, "not-an-id"])
    expect(await call({ route: account.GET, params: { id: unknown } })).toMatchObject({ status: 404, message: "not_found" });
});

test("the health has every node that reported, the venues, the size of the database and the last backup", async () => {
  const { registry } = t.metrics;
  // Keeps what the next line sets.
  Object.assign(registry.getSingleMetric("nodejs_eventloop_lag_seconds") ?? {}, { collect: () => undefined });
  (registry.getSingleMetric("nodejs_eventloop_lag_p99_seconds") as Gauge).set((LOOP_SAMPLE_MS + 25) / SECOND_MS);
  const report = createNodeReport({ ...t, disk: () => null, version: "1.2.3" });
  for (const name of ["edge-1", "edge-2"]) await writeNodeReport(t.db.pool, { id: randomUUID(), name }, await report());
  const at = new Date(t.clock.now()).toISOString();
  const run = { started_at: at, ended_at: at, bytes: 10, rows: 20, problem: null };
  await recordBackup(t.db.pool, run);
  const { data } = await call({ route: health.GET });
  expect(data.nodes).toMatchObject([
    { name: "edge-1", version: "1.2.3", silent: false, connections: 0 },
    { name: "edge-2", silent: false },
  ]);
  expect(data.nodes[0].loop_lag_ms).toBeCloseTo(25);
  expect(data.venues.map(({ venue }: { venue: string }) => venue).sort()).toEqual(["live", "sandbox"]);
  expect(data.database_bytes).toBeGreaterThan(0);
  expect(data.backups).toEqual({ last: run, failed: null, max_age_s: 7 * DAY_S });
});

test("the audit log is filtered by kind and by text, also on its older pages", async () => {
  const find = async (query: string) =>
    (await call({ route: auditLog.GET, query })).data.items as { action: string; target: string }[];
  await call({ route: plan.PUT, method: "PUT", params: { name: "searched-plan" }, body: LIMITS });
  const plansOnly = await find("?kind=plan");
  expect(plansOnly.length).toBeGreaterThan(0);
  expect(plansOnly.every(({ action }) => action.startsWith("plan."))).toBe(true);
  expect((await find("?q=SEARCHED-plan")).map(({ target }) => target)).toEqual(["searched-plan"]);
  // These are no wildcards.
  expect(await find("?q=%25")).toEqual([]);
  expect(await find("?kind=access&q=searched-plan")).toEqual([]);
  expect(await call({ route: auditLog.GET, query: "?kind=everything" })).toMatchObject({
    status: 400,
    message: "invalid_parameter",
  });
});
