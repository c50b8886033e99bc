import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEY_ADDRESSES_MAX_COUNT, KEY_TICKERS_MAX_COUNT, PLAN_LIMIT_MAX } from "#lib/contract/limits";
import { DAY_MS } from "#lib/units";
import { createKey } from "#server/store/access/keys";
import { type Called, portalBrowser, type Send, signedInBrowser } from "#server/testing/portal-browser";
import { type Answer, failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const KEY = { name: "my key", venue: "live", scopes: ["market:read"], origins: [], expires_at: null };
const INSTRUMENTS = "/api/v1/market/instruments";

let t: TestRuntime;
/** All responses of the portal so far, as text. */
const answers: string[] = [];
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

/** A signed-in user with a new account. */
async function signIn(name: string) {
  const { accountId, browser } = await signedInBrowser(t, name, { plan: "endless" });
  return {
    accountId,
    email: `${accountId}@example.com`,
    browser,
    async call(route: Called, send?: Send): Promise<Answer> {
      const answer = await browser.send(route, { ...send });
      answers.push(answer.text);
      return answer;
    },
    async createKey(settings: object = {}) {
      const { body } = await this.call("POST /keys", { body: { ...KEY, ...settings } });
      await t.settle();
      return body.data;
    },
  };
}

describe("keys in the portal", () => {
  test("a key is revoked with those that it replaced when that is asked for, and alone otherwise", async () => {
    const ada = await signIn("pair");
    for (const replaced of [true, false]) {
      const { text, key } = await ada.createKey({ name: "pair" });
      const { data } = (await ada.call("POST /keys/[id]/rotate", { params: { id: key.id }, body: { grace: "7d" } })).body;
      const call = { params: { id: data.key.id }, body: { confirm: "pair", replaced } };
      expect(await ada.call("POST /keys/[id]/revoke", call)).toMatchObject({ status: 200 });
      await t.settle();
      expect([replaced, (await t.ask(INSTRUMENTS, { key: text })).status]).toEqual([replaced, replaced ? 401 : 200]);
      expect((await t.ask(INSTRUMENTS, { key: data.text })).status).toBe(401);
    }
  });

  test("keys are created, changed, rotated and revoked in the portal, and the audit log names the user", async () => {
    const ada = await signIn("ada");
    const { text, key } = await ada.createKey({ origins: ["https://app.example.com"] });
    expect(key).toMatchObject({ name: "my key", state: "active", origins: ["https://app.example.com"], last4: text.slice(-4) });
    expect(await t.ask(INSTRUMENTS, { key: text })).toMatchObject({ status: 200 });

    const params = { id: key.id };
    const change = { name: "renamed", scopes: ["market:stream"], origins: [] };
    expect(await ada.call("PATCH /keys/[id]", { params, body: change })).toMatchObject({ body: { data: { key: change } } });
    await t.settle();
    expect(await t.ask(INSTRUMENTS, { key: text })).toMatchObject(failed("insufficient_scope"));

    const rotated = (await ada.call("POST /keys/[id]/rotate", { params, body: { grace: "1h" } })).body.data;
    expect(rotated).toMatchObject({
      key: { name: "renamed", state: "active" },
      replaced: { state: "grace", replaced_by: rotated.key.id },
    });
    const wrong = await ada.call("POST /keys/[id]/revoke", { params, body: { confirm: "my key" } });
    expect(wrong).toMatchObject(failed("invalid_parameter", { parameter: "confirm" }));
    const revoked = await ada.call("POST /keys/[id]/revoke", { params, body: { confirm: "renamed" } });
    expect(revoked).toMatchObject({ body: { data: { key: { state: "revoked" } } } });
    expect(await ada.call("PATCH /keys/[id]", { params, body: { name: "again" } })).toMatchObject(
      failed("invalid_parameter", { parameter: "id" }),
    );

    const { items } = (await ada.call("GET /keys")).body.data;
    expect(items.map(({ state }: { state: string }) => state).sort()).toEqual(["active", "revoked"]);
    const { items: entries } = (await ada.call("GET /audit")).body.data;
    expect(entries.map(({ actor, action, target }: Record<string, string>) => [actor, action, target])).toEqual([
      [ada.email, "key.revoke", key.id],
      [ada.email, "key.rotate", key.id],
      [ada.email, "key.edit", key.id],
      [ada.email, "key.create", key.id],
      ["command line", "account.create", "ada"],
    ]);
    expect(entries[2]).toMatchObject({
      before: { name: "my key", scopes: ["market:read"] },
      after: { name: "renamed", scopes: ["market:stream"] },
    });
  });

  test("a user without a verified address can neither create keys nor change or use those an operator made", async () => {
    const eve = await signIn("unverified");
    const { key } = await eve.createKey();
    await t.db.prisma.user.updateMany({ where: { accountId: eve.accountId }, data: { emailVerifiedAt: null } });
    const params = { id: key.id };
    const tries: [Called, Send][] = [
      ["POST /keys", { body: KEY }],
      ["PATCH /keys/[id]", { params, body: { origins: ["https://evil.example"] } }],
      ["POST /keys/[id]/rotate", { params, body: { grace: "now" } }],
      ["POST /tokens", { body: { key_id: key.id } }],
    ];
    for (const [route, call] of tries)
      expect(await eve.call(route, call)).toMatchObject(
        failed("invalid_parameter", { parameter: "email", detail: "Verify your email first." }),
      );
    expect(await t.db.prisma.apiKey.count({ where: { accountId: eve.accountId } })).toBe(1);
    const revoked = await eve.call("POST /keys/[id]/revoke", { params, body: { confirm: KEY.name } });
    expect(revoked).toMatchObject({ status: 200 });
  });

  test("the holder of a key with a scope of operators can revoke it, but not rotate or edit it", async () => {
    const { accountId, call } = await signIn("provider");
    const settings = { ...KEY, accountId, scopes: ["market:read", "market:ingest"], expiresAt: null };
    const { record } = await createKey(t.keyContext, settings);
    const params = { id: record.id };
    const detail = "Only an operator can change a key with the scope market:ingest.";
    for (const refused of [
      await call("POST /keys/[id]/rotate", { params, body: { grace: "now" } }),
      await call("PATCH /keys/[id]", { params, body: { origins: ["https://app.example.com"] } }),
    ])
      expect(refused).toMatchObject(failed("invalid_parameter", { parameter: "id", detail }));
    expect(await call("POST /keys/[id]/revoke", { params, body: { confirm: KEY.name } })).toMatchObject({ status: 200 });
  });

  test("keys are created with the addresses they can be used from, which can be changed", async () => {
    const user = await signIn("addresser");
    const { key } = await user.createKey({ addresses: ["203.0.113.7"] });
    expect(key).toMatchObject({ addresses: ["203.0.113.7"] });
    const change = (addresses: string[]) => user.call("PATCH /keys/[id]", { params: { id: key.id }, body: { addresses } });
    expect((await change([])).body.data.key).toMatchObject({ name: "my key", addresses: [] });
    for (const addresses of [["not an address"], Array(KEY_ADDRESSES_MAX_COUNT + 1).fill("203.0.113.7")])
      expect(await change(addresses)).toMatchObject(failed("invalid_parameter", { parameter: "addresses" }));
  });

  test("keys are created with tickers, limits and a time from which they are valid, which can be changed", async () => {
    const user = await signIn("limiter");
    const notBefore = new Date(t.clock.now() + DAY_MS).toISOString();
    const chosen = { tickers: ["EURUSD"], rest_per_minute: 30, stream_connections: 1, not_before: notBefore };
    const { key } = await user.createKey(chosen);
    expect(key).toMatchObject({ ...chosen, state: "scheduled", rest_burst: null, subscriptions_per_connection: null });
    const change = (body: object) => user.call("PATCH /keys/[id]", { params: { id: key.id }, body });
    const removed = { tickers: [], rest_per_minute: null, stream_connections: null, not_before: null };
    expect((await change({ rest_burst: 5 })).body.data.key).toMatchObject({ ...chosen, rest_burst: 5 });
    expect((await change(removed)).body.data.key).toMatchObject({ ...removed, state: "active", rest_burst: 5 });
    for (const [parameter, value] of [
      ["tickers", ["EURUSX"]],
      ["tickers", Array(KEY_TICKERS_MAX_COUNT + 1).fill("EURUSD")],
      ["rest_per_minute", PLAN_LIMIT_MAX + 1],
      ["subscriptions_per_connection", 0],
    ] as const)
      expect(await change({ [parameter]: value })).toMatchObject(failed("invalid_parameter", { parameter }));
    const backwards = { not_before: "2030-02-01T00:00:00Z", expires_at: "2030-01-01T00:00:00Z" };
    expect(await change(backwards)).toMatchObject(failed("invalid_parameter", { parameter: "not_before" }));
    expect(await change({ tickers: ["EUR/USD"] })).toMatchObject(failed("invalid_ticker", { parameter: "tickers" }));
  });

  test("keys expire after a year unless another expiry is chosen, and the list says which expire soon", async () => {
    const user = await signIn("expirer");
    const year = new Date(t.clock.now() + 365 * DAY_MS).toISOString();
    const { key } = await user.createKey({ expires_at: undefined });
    expect(key).toMatchObject({ expires_at: year, expires_soon: false });
    const params = { id: key.id };
    const change = async (expires_at: string | null) =>
      (await user.call("PATCH /keys/[id]", { params, body: { expires_at } })).body.data.key;
    const soon = new Date(t.clock.now() + 14 * DAY_MS - 1).toISOString();
    expect(await change(soon)).toMatchObject({ name: "my key", expires_at: soon, expires_soon: true });
    expect((await user.call("GET /keys")).body.data.items).toMatchObject([{ expires_soon: true, state: "active" }]);
    expect(await change(null)).toMatchObject({ expires_at: null, expires_soon: false });
    const refused = await user.call("PATCH /keys/[id]", { params, body: { expires_at: "2020-01-01T00:00:00Z" } });
    expect(refused).toMatchObject(failed("invalid_parameter", { parameter: "expires_at" }));
  });

  test.each([
    ["a scope of operators", { scopes: ["market:ingest"] }, "invalid_parameter"],
    ["an invalid origin", { origins: ["*"] }, "invalid_parameter"],
    ["an expiry in the past", { expires_at: "2020-01-01T00:00:00Z" }, "invalid_parameter"],
    ["another account", { account_id: "00000000-0000-7000-8000-000000000001" }, "invalid_parameter"],
    ["a field of the database", { hash: "00" }, "invalid_parameter"],
  ] as const)("keys cannot be created with %s", async (_, settings, message) => {
    const mallory = await signIn("mallory");
    expect(await mallory.call("POST /keys", { body: { ...KEY, ...settings } })).toMatchObject(failed(message));
  });
});

describe("data of another account", () => {
  test("keys, requests, usage and audit entries of another account do not exist for a user", async () => {
    const owner = await signIn("owner");
    const thief = await signIn("thief");
    const { text, key } = await owner.createKey();
    await t.ask(INSTRUMENTS, { key: text, headers: { "x-request-id": "owned-request" } });
    await t.usage.flush();
    const params = { id: key.id };
    const tries: [Called, Send][] = [
      ["PATCH /keys/[id]", { params, body: { name: "mine" } }],
      ["POST /keys/[id]/rotate", { params, body: { grace: "now" } }],
      ["POST /keys/[id]/revoke", { params, body: { confirm: "my key" } }],
      ["GET /logs/[request_id]", { params: { request_id: "owned-request" } }],
    ];
    for (const [route, call] of tries)
      expect(await thief.call(route, call)).toMatchObject({ status: 404, ...failed("not_found") });
    expect((await thief.call("GET /keys")).body.data.items).toEqual([]);
    expect((await thief.call("GET /logs", { query: { key_id: key.id } })).body.data.items).toEqual([]);
    expect((await thief.call("GET /usage", { query: { key_id: key.id } })).body.data.by.keys).toEqual([]);
    const exported = await thief.browser.request("GET /usage/export", { query: { key_id: key.id } });
    expect(await exported.text()).not.toContain(key.id);
    const log = await thief.browser.request("GET /logs/export", { query: { key_id: key.id } });
    expect(await log.text()).not.toContain("owned-request");
    const { items } = (await owner.call("GET /audit")).body.data;
    const page = (await thief.call("GET /audit", { query: { before: items[0].id } })).body.data;
    expect(JSON.stringify(page)).not.toContain(key.id);
    expect(await t.ask(INSTRUMENTS, { key: text })).toMatchObject({ status: 200 });
    expect((await owner.call("GET /logs/[request_id]", { params: { request_id: "owned-request" } })).body.data).toMatchObject({
      entry: { key_id: key.id, status: 200 },
      explanation: null,
    });
  });

  test("keys, requests, usage and audit entries require a sign-in", async () => {
    for (const route of [
      "GET /keys",
      "GET /logs",
      "GET /usage",
      "GET /usage/export",
      "GET /audit",
      "GET /overview",
      "GET /logs/export",
      "GET /logs/[request_id]",
    ] as const) {
      const response = await portalBrowser().request(route, { params: { request_id: "x" } });
      expect(response.status).toBe(401);
    }
  });
});

describe("the dashboard", () => {
  test("the dashboard ticks off completed steps, and shows today's usage and the remaining quota", async () => {
    const user = await signIn("starter");
    const start = (await user.call("GET /overview")).body.data;
    expect(start).toMatchObject({ checklist: { key: false, call: false, stream: false }, today: { calls: 0 }, expiring: [] });
    expect(start.key_to_try).toEqual({ call: null, stream: null });
    expect(start.week).toHaveLength(7);
    const expires_at = new Date(t.clock.now() + DAY_MS).toISOString();
    const { text, key } = await user.createKey({ expires_at });
    await t.ask(INSTRUMENTS, { key: text });
    await t.ask("/api/v1/market/klines", { key: text });
    await t.usage.flush();
    const { body } = await user.call("GET /overview");
    expect(body.data).toMatchObject({
      checklist: { key: true, call: true, stream: false },
      today: { calls: 2, errors: 1, connections: 0 },
      limits: { plan: "endless", rest_per_minute: 1e9, rest_remaining: 1e9 - 2, stream_connections: 1e9 },
      expiring: [{ id: key.id }],
    });
  });

  test("the dashboard names the newest key of the sandbox that works and may make the call", async () => {
    const user = await signIn("trier");
    const tried = async () => (await user.call("GET /overview")).body.data.key_to_try;
    const both = ["market:read", "market:stream"];
    const live = (await user.createKey({ scopes: both })).key.id;
    expect(await tried()).toEqual({ call: live, stream: live });
    const older = (await user.createKey({ venue: "sandbox", scopes: both })).key.id;
    const newer = (await user.createKey({ venue: "sandbox" })).key.id;
    await user.createKey();
    expect(await tried()).toEqual({ call: newer, stream: older });
    await user.call("POST /keys/[id]/revoke", { params: { id: older }, body: { confirm: "my key" } });
    await user.call("POST /keys/[id]/revoke", { params: { id: newer }, body: { confirm: "my key" } });
    expect((await tried()).stream).toBe(live);
  });

  test("the request log explains a refusal, filters, and has pages", async () => {
    const user = await signIn("reader");
    const { text: key } = await user.createKey();
    for (let index = 0; index < 101; index += 1) await t.ask(`${INSTRUMENTS}?n=${index}`, { key });
    await t.ask("/api/v1/market/quotes/latest?tickers=NOPENOPE", { key, headers: { "x-request-id": "refused-request" } });
    await t.usage.flush();
    const { explanation } = (await user.call("GET /logs/[request_id]", { params: { request_id: "refused-request" } })).body.data;
    expect(explanation).toMatchObject({
      title: "Unknown ticker",
      docs_url: expect.stringMatching(/\/docs\/errors\/unknown-ticker$/),
    });
    const paths = async (query: Record<string, string>) => {
      const { items, next_before } = (await user.call("GET /logs", { query })).body.data;
      return { paths: items.map(({ path }: { path: string }) => path.split("?")[1]), next_before };
    };
    expect(await paths({ status: "4xx" })).toEqual({ paths: ["tickers=NOPENOPE"], next_before: null });
    expect(await paths({ status: "404", operation: "instruments" })).toEqual({ paths: [], next_before: null });
    expect((await paths({ q: "n=77" })).paths).toEqual(["n=77"]);
    expect((await paths({ q: "n_77" })).paths).toEqual([]);
    const first = await paths({ status: "200" });
    expect(first.paths).toHaveLength(100);
    expect(await paths({ status: "200", before: first.next_before })).toEqual({ paths: ["n=0"], next_before: null });
  });
});

test("the text of a key appears in one answer only: in no other answer, no log, and no column of the database", async () => {
  const user = await signIn("secretive");
  answers.length = 0;
  const made = await user.createKey();
  const rotated = (await user.call("POST /keys/[id]/rotate", { params: { id: made.key.id }, body: { grace: "1h" } })).body.data;
  await t.settle();
  for (const text of [made.text, rotated.text]) {
    const headers = { "user-agent": text, "x-request-id": text };
    await t.ask(`${INSTRUMENTS}?key=${text}`, { key: text, headers });
    await t.ask(`/api/v1/market/quotes/latest?tickers=${text}`, { key: text, headers });
  }
  await t.usage.flush();
  for (const route of ["GET /keys", "GET /audit", "GET /logs", "GET /usage", "GET /overview"] as const) await user.call(route);
  await user.call("GET /logs/[request_id]", { params: { request_id: made.text } });
  const { rows: tables } = await t.db.pool.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
  const stored: string[] = [];
  for (const { tablename } of tables) {
    const { rows } = await t.db.pool.query(`SELECT stored::text AS text FROM "${tablename}" AS stored`);
    stored.push(...rows.map(({ text }) => text));
  }
  expect(stored.join("\n")).toContain(made.key.id);
  for (const text of [made.text, rotated.text] as string[]) {
    const random = text.slice(12, -4);
    const hex = Buffer.from(text).toString("hex");
    expect(answers.filter((answer) => answer.includes(random))).toHaveLength(1);
    expect(JSON.stringify(t.logged)).not.toContain(random);
    expect(stored.filter((row) => row.includes(random) || row.includes(hex))).toEqual([]);
  }
});

describe("a playground token", () => {
  test("a playground token acts for a key of its user until sign-out, and is never issued for another user's key", async () => {
    const owner = await signIn("token owner");
    const other = await signIn("token other");
    const { key } = (await owner.call("POST /keys", { body: KEY })).body.data;
    const ask = () => owner.call("POST /tokens", { body: { key_id: key.id } });
    const { token } = (await ask()).body.data;
    expect(await t.ask(INSTRUMENTS, { key: token })).toMatchObject({ status: 200 });
    expect(await t.ask(INSTRUMENTS, { key: token, headers: { origin: "https://elsewhere.example" } })).toMatchObject(
      failed("origin_not_allowed"),
    );
    expect(await other.call("POST /tokens", { body: { key_id: key.id } })).toMatchObject({ status: 404 });
    await owner.call("POST /keys/[id]/revoke", { params: { id: key.id }, body: { confirm: KEY.name } });
    await t.settle();
    expect(await t.ask(INSTRUMENTS, { key: token })).toMatchObject({ status: 401 });
    expect(await ask()).toMatchObject({ status: 404 });
  });
});
