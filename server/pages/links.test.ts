import { afterAll, beforeAll, expect, test } from "vitest";
import { LINK_LIFETIME_MAX_S, LINKS_PER_ACCOUNT_MAX_COUNT, TICKERS_PER_REQUEST_MAX_COUNT } from "#lib/contract/limits";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { createKey, type NewKey, revokeKey } from "#server/store/access/keys";
import { reportAccount } from "#server/store/users/account-admin";
import { callerOf, PORTAL, portalBrowser, signedInBrowser } from "#server/testing/portal-browser";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
  t.markets.live.quote("EURUSD", 1.08543, 1.08551, t.clock.now());
});
afterAll(() => t.close());

/** A user with a new account and a live key, and a function that calls as they do. */
async function signIn(name: string, { provedAgoMs = 0, ...settings }: Partial<NewKey> & { provedAgoMs?: number } = {}) {
  const { accountId, browser } = await signedInBrowser(t, name, { provedAgoMs });
  const usual = { accountId, name: "sheet", venue: "live", scopes: ["market:read"], origins: [] };
  const { record: key } = await createKey(t.keyContext, { ...usual, ...settings });
  const call = callerOf(browser);
  const form = (change: object = {}) => ({
    name: "Rates",
    key_id: key.id,
    operation: "latestQuotes",
    parameters: { tickers: "EURUSD", format: "csv" },
    expires_at: new Date(t.clock.now() + DAY_MS).toISOString(),
    ...change,
  });
  return { accountId, key, call, form, create: (change?: object) => call("POST /links", { body: form(change) }) };
}

const ask = (address: string) => t.ask(address.slice(PORTAL.length), { key: null });

test("a signed-in user creates a link, calls it, sees its address again, and revokes it; the list has no address", async () => {
  const ann = await signIn("ann");
  const { data } = await ann.create({ name: " Rates " });
  expect(data.link).toMatchObject({
    name: "Rates",
    key_name: "sheet",
    key_prefix: expect.stringMatching(/^sw_live_/),
    venue: "live",
    operation: "latestQuotes",
    query: "tickers=EURUSD&format=csv",
    state: "active",
    last_used_at: null,
  });
  expect(data.address).toMatch(/^http:\/\/spotwire\.test\/api\/v1\/link\?token=sw_link_[\w.-]+$/);
  expect((await ask(data.address)).text).toContain("EURUSD");
  const { id } = data.link;
  expect((await ann.call("POST /links/[id]/address", { id })).data).toEqual({ address: data.address });
  const listed = await ann.call("GET /links");
  expect(listed.data.items).toMatchObject([{ id, name: "Rates" }]);
  expect(JSON.stringify(listed)).not.toContain("sw_link_");
  expect(await ann.call("DELETE /links/[id]", { id })).toMatchObject({ status: 200 });
  await t.settle();
  expect((await ask(data.address)).body.message).toBe("invalid_link");
  expect((await ann.call("GET /links")).data.items).toEqual([]);
  expect(await ann.call("POST /links/[id]/address", { id })).toMatchObject({ status: 404 });
});

test("a link to a file is Parquet unless it says otherwise, and never JSON", async () => {
  const pat = await signIn("pat");
  const id = "klines-EURUSD-2026-10";
  const { data } = await pat.create({ operation: "file", parameters: { id } });
  expect(data.link.query).toBe(`id=${id}&format=parquet`);
  expect((await ask(data.address)).headers.get("content-disposition")).toContain("EURUSD-M1-2026-10.parquet");
  expect(await pat.create({ operation: "file", parameters: { id, format: "json" } })).toMatchObject({ status: 400 });
});

test("nobody who is not signed in, and no other account, can see, show or revoke it", async () => {
  const [owner, eve, stranger] = [await signIn("owner"), await signIn("eve"), callerOf(portalBrowser())];
  const { id } = (await owner.create()).data.link;
  for (const [route, call] of [
    ["GET /links", {}],
    ["POST /links", { body: owner.form() }],
    ["POST /links/[id]/address", { id }],
    ["DELETE /links/[id]", { id }],
  ] as const)
    expect(await stranger(route, call)).toMatchObject({ status: 401 });
  expect(await eve.call("POST /links/[id]/address", { id })).toMatchObject({ status: 404 });
  expect(await eve.call("DELETE /links/[id]", { id })).toMatchObject({ status: 404 });
  expect((await eve.call("GET /links")).data.items).toEqual([]);
  const foreignKey = await eve.create({ key_id: owner.key.id });
  expect(foreignKey).toMatchObject({ status: 400, data: { parameter: "key_id" } });
});

test.each([
  ["no name", { name: " " }, "name"],
  ["no key", { key_id: "" }, "key_id"],
  ["an operation that writes", { operation: "ingestTicks" }, "operation"],
  ["an operation that opens a stream", { operation: "createStreamTicket" }, "operation"],
  ["a missing parameter", { parameters: { format: "csv" } }, "tickers"],
  ["an empty parameter", { parameters: { tickers: "" } }, "tickers"],
  ["a value the operation refuses", { parameters: { tickers: "EUR/USD" } }, "tickers"],
  [
    "too many tickers",
    { parameters: { tickers: [...Array(TICKERS_PER_REQUEST_MAX_COUNT + 1).keys()].map((n) => `AAA${n}`).join() } },
    "tickers",
  ],
  [
    "parameters that exclude each other",
    { operation: "klines", parameters: { ticker: "EURUSD", timeframe: "H1", from: "2", to: "1" } },
    "from",
  ],
  ["another format", { parameters: { tickers: "EURUSD", format: "xml" } }, "format"],
  ["a parameter the operation does not have", { parameters: { tickers: "EURUSD", limit: "5" } }, "limit"],
  [
    "more parameters than any operation has",
    { parameters: Object.fromEntries([...Array(21).keys()].map((n) => [`p${n}`, "1"])) },
    "parameters",
  ],
  ["an expiry that is past", { expires_at: "2026-01-01T00:00:00Z" }, "expires_at"],
  [
    "an expiry too far off",
    { expires_at: new Date(Date.UTC(2026, 0, 7, 12) + LINK_LIFETIME_MAX_S * SECOND_MS + MINUTE_MS).toISOString() },
    "expires_at",
  ],
  ["a field that no link has", { venue: "live" }, "venue"],
] as const)("a link with %s is refused at its field", async (_, change, parameter) => {
  const bea = await signIn("bea");
  expect(await bea.create(change)).toMatchObject({ status: 400, data: { parameter } });
});

test("a link needs a key that works and may read", async () => {
  const cat = await signIn("cat", { scopes: ["market:stream"] });
  expect(await cat.create()).toMatchObject({ message: "invalid_parameter", data: { parameter: "key_id" } });
  const dan = await signIn("dan");
  const { data } = await dan.create();
  await revokeKey(t.keyContext, dan.key.id);
  expect(await dan.create()).toMatchObject({ data: { parameter: "key_id" } });
  expect((await dan.call("GET /links")).data.items).toMatchObject([{ id: data.link.id, state: "no_key" }]);
});

test("creating a link and showing its address need a fresh proof; revoking it does not", async () => {
  const gus = await signIn("gus");
  const { id } = (await gus.create()).data.link;
  await t.clock.advance(60 * MINUTE_MS);
  expect(await gus.create()).toMatchObject({ message: "proof_required" });
  expect(await gus.call("POST /links/[id]/address", { id })).toMatchObject({ message: "proof_required" });
  expect(await gus.call("DELETE /links/[id]", { id })).toMatchObject({ status: 200 });
});

test("links are limited for each account, in number and in pace", async () => {
  const hal = await signIn("hal");
  const { link } = (await hal.create()).data;
  const { id: _, ...row } = await t.db.prisma.dataLink.findUniqueOrThrow({ where: { id: link.id } });
  await t.db.prisma.dataLink.createMany({ data: Array.from({ length: LINKS_PER_ACCOUNT_MAX_COUNT - 1 }, () => row) });
  const full = await hal.create();
  expect(full.data.detail).toContain(`at most ${LINKS_PER_ACCOUNT_MAX_COUNT} links`);
  const statuses: number[] = [];
  for (let count = 0; count < 10; count += 1) statuses.push((await hal.create()).status);
  expect(statuses.at(-1)).toBe(429);
  const ida = await signIn("ida");
  expect(await ida.create()).toMatchObject({ status: 200 });
});

test("what happens to a link is in the audit log, without its address, and its owner gets an email", async () => {
  const jo = await signIn("jo");
  const { id } = (await jo.create()).data.link;
  await jo.call("DELETE /links/[id]", { id });
  const entries = await t.db.prisma.auditEntry.findMany({
    where: { accountId: jo.accountId, target: id },
    orderBy: { at: "asc" },
  });
  expect(entries.map(({ action }) => action)).toEqual(["link.create", "link.revoke"]);
  expect(entries[0]?.after).toMatchObject({ name: "Rates", of_key: "sheet", call: "latestQuotes?tickers=EURUSD&format=csv" });
  const { email } = await t.db.prisma.user.findFirstOrThrow({ where: { accountId: jo.accountId } });
  await expect
    .poll(() =>
      t.capturedMails
        .list()
        .filter(({ to }) => to === email)
        .map(({ subject }) => subject)
        .sort(),
    )
    .toEqual(["Link created", "Link revoked"]);
});

test("operators see the links of an account", async () => {
  const kim = await signIn("kim");
  const { link } = (await kim.create()).data;
  const report = await reportAccount({ db: t.db, clock: t.clock }, kim.accountId);
  expect(report.links).toEqual([link]);
});
