import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Failure } from "#lib/contract/envelope";
import { ERRORS, type ErrorId, httpStatus } from "#lib/contract/errors";
import { AUTH_FAILURES_PER_MINUTE_COUNT, LINK_CALLS_BURST_COUNT, PLAN_DEFAULTS, URI_MAX_BYTES } from "#lib/contract/limits";
import { LINKED_IDS, type LinkedId } from "#lib/contract/linked-ids";
import { OPERATION_LIST, operations } from "#lib/operations/declarations";
import { linkOperation } from "#lib/operations/link/declaration";
import { sampleQuery } from "#lib/testing/operations";
import { DAY_MS, HOUR_S } from "#lib/units";
import type { AccountChange } from "#server/store/access/accounts";
import { createAccess } from "#server/store/access/create-access";
import { editKey, type NewKey, revokeKey, rotateKey } from "#server/store/access/keys";
import { revokeLink } from "#server/store/access/links";
import { makeLink } from "#server/testing/links";
import { testKlines } from "#server/testing/market";
import {
  type Answer,
  type Ask,
  failed,
  freshAddress,
  TEST_SECRET,
  TEST_START_MS,
  type TestRuntime,
  testRuntime,
} from "#server/testing/runtime";
import { ENDLESS_PLAN } from "#server/testing/stream-keys";

const START_S = TEST_START_MS / 1_000;
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
  for (const ticker of ["EURUSD", "XAUUSD"]) t.markets.live.quote(ticker, 1.08543, 1.08551, TEST_START_MS);
  await t.markets.live.store.writeBatch(testKlines("EURUSD", "M1", START_S - HOUR_S, 10, 60), []);
});
afterAll(() => t.close());

/** Asks without a key, as a spreadsheet does. */
const ask = (path: string, more: Ask = {}) => t.ask(path, { key: null, ...more });

type Wish = Parameters<typeof makeLink>[2];
type Settings = Partial<NewKey> & { account?: string } & AccountChange;

/** A link of a new key on a new account, and a function that calls it. */
async function openLink(wish: Wish = {}, settings: Settings = {}) {
  const { record: key, text } = await t.issueKey(settings);
  const link = await makeLink({ ...t.keyContext, secret: TEST_SECRET }, key.id, wish);
  const by = { actor: { name: "owner@example.com" }, accountId: link.accountId, address: null };
  return { key, text, by, ...link, call: (suffix = "", more: Ask = {}) => ask(link.path + suffix, more) };
}

/** Changes the key of a link, and waits until the service knows. */
async function withKey(change: Parameters<typeof editKey>[2], wish: Wish = {}): Promise<Awaited<ReturnType<typeof openLink>>> {
  const link = await openLink(wish);
  await editKey(t.keyContext, link.key.id, change);
  await t.settle();
  return link;
}

describe("a link", () => {
  test("a link can stand for every read of the market but two", () => {
    const reads = OPERATION_LIST.filter(({ method, scope }) => method === "GET" && scope === "market:read").map(({ id }) => id);
    // A list of files leads to files, of which a link is for one; hours are rules that change once a year.
    expect(reads.filter((id) => !LINKED_IDS.some((linked) => linked === id))).toEqual(["files", "marketHours"]);
  });

  test.each(LINKED_IDS.filter((id) => id !== "file"))(
    "of %s answers what its key gets, and never what the caller prefers",
    async (id: LinkedId) => {
      const query = `${sampleQuery(id).slice(1)}${sampleQuery(id) === "" ? "" : "&"}format=json`;
      const { call, text } = await openLink({ operation: id, query });
      const linked = await call("", { headers: { accept: "text/csv" } });
      expect(linked.status).toBe(200);
      expect(linked.body).toEqual((await t.ask(`${operations[id].path}?${query}`, { key: text })).body);
      expect(linkOperation.data.safeParse(linked.body.data).success).toBe(true);
    },
  );

  test("answers CSV where it says so, the newest klines without a range", async () => {
    const { call } = await openLink({ operation: "klines", query: "ticker=EURUSD&timeframe=M1&limit=2&format=csv" });
    const { headers, text } = await call();
    expect(headers.get("content-type")).toContain("text/csv");
    const [head, ...rows] = text.trimEnd().split("\r\n");
    expect(head).toContain("time_utc");
    expect(rows).toHaveLength(2);
    expect(rows[1]).toContain(String(START_S - HOUR_S + 540));
  });

  test("is kept by no cache, followed by no page and listed by no search engine, and names no next page", async () => {
    const query = `ticker=EURUSD&timeframe=M1&limit=2&format=csv&from=${START_S - HOUR_S}&to=${START_S - HOUR_S + 600}`;
    const { call, text } = await openLink({ operation: "klines", query });
    const keyed = await t.ask(`${operations.klines.path}?${query}`, { key: text });
    expect(keyed.headers.get("link")).toContain("next");
    for (const { status, headers } of [await call(), await call("", { headers: { "if-none-match": "*" } })]) {
      expect(status).toBe(200);
      expect(Object.fromEntries(headers)).toMatchObject({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex, nofollow",
        "x-content-type-options": "nosniff",
      });
      for (const name of ["link", "etag"]) expect(headers.has(name)).toBe(false);
    }
    const refused = await ask(`${linkOperation.path}?token=wrong`, { address: freshAddress() });
    expect(refused.headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("answers HEAD with the headers of GET", async () => {
    const { call } = await openLink();
    const { status, text, headers } = await call("", { method: "HEAD" });
    expect([status, text]).toEqual([200, ""]);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("refuses each parameter of its operation, also as an element, and ignores others", async () => {
    const { call } = await openLink();
    for (const suffix of ["&tickers=XAUUSD", "&tickers[]=XAUUSD", "&format=csv", `&${"x=1&".repeat(20)}tickers=XAUUSD`])
      expect(await call(suffix)).toMatchObject(
        failed("invalid_parameter", { parameter: expect.stringMatching(/tickers|format/) }),
      );
    const answer = await call("&nocache=42");
    expect(answer.body.data.items).toHaveLength(1);
    expect(answer.headers.get("x-ignored-params")).toBe("nocache");
  });

  test("opens nothing else: its token is no key, and a key is no token", async () => {
    const { token, text } = await openLink();
    expect(await t.ask("/api/v1/key", { key: token, address: freshAddress() })).toMatchObject(failed("unauthorized"));
    const asLink = await ask(`${linkOperation.path}?token=${text}`, { address: freshAddress() });
    expect(asLink).toMatchObject(failed("invalid_link"));
  });
});

describe("a link ends", () => {
  const address = freshAddress();
  const ended = async (link: Awaited<ReturnType<typeof openLink>>, end: () => Promise<unknown> | unknown) => {
    expect((await link.call()).status).toBe(200);
    await end();
    await t.settle();
    expect(await link.call("", { address })).toMatchObject(failed("invalid_link"));
  };

  test("when it is revoked", async () => {
    const link = await openLink();
    await ended(link, () => revokeLink(t.keyContext, link.id, link.by));
  });

  test("on every node that had verified it, when it is revoked on one", async () => {
    const link = await openLink();
    const other = createAccess({ ...t, secret: TEST_SECRET, controlConnected: () => true });
    let told = () => {};
    const heard = new Promise<void>((resolve) => {
      told = resolve;
    });
    const listener = await t.db.control.listen((message) => {
      other.apply(message);
      if (message.kind === "keys" && message.keyId === link.key.id) told();
    });
    expect(await other.verifyLink(link.token, address)).toMatchObject({ link: { id: link.id } });
    await revokeLink(t.keyContext, link.id, link.by);
    await heard;
    await expect(async () => other.verifyLink(link.token, address)).rejects.toMatchObject({ id: "invalid_link" });
    await Promise.all([listener.stop(), other.stop()]);
  });

  test("when its key is revoked", async () => {
    const link = await openLink();
    await ended(link, () => revokeKey(t.keyContext, link.key.id));
  });

  test("when its account is deleted", async () => {
    const link = await openLink();
    await ended(link, async () => {
      await t.db.prisma.account.delete({ where: { id: link.accountId } });
      await t.db.control.publish({ kind: "account", accountId: link.accountId });
    });
    expect(await t.db.prisma.dataLink.findUnique({ where: { id: link.id } })).toBeNull();
  });

  test("not when its key is rotated, even at once", async () => {
    const link = await openLink();
    expect((await link.call()).status).toBe(200);
    await rotateKey(t.keyContext, link.key.id, "now");
    await t.settle();
    expect(await t.ask("/api/v1/key", { key: link.text, address })).toMatchObject(failed("unauthorized"));
    expect((await link.call()).status).toBe(200);
  });

  test("at its expiry, to the millisecond", async () => {
    const link = await openLink({ lastsMs: DAY_MS });
    const { clock } = t;
    await clock.advance(DAY_MS - 1);
    expect((await link.call()).status).toBe(200);
    await clock.advance(1);
    expect(await link.call("", { address })).toMatchObject(failed("invalid_link"));
  });
});

/** How each error of a link is caused; a declared one that is missing here fails. */
/** Calls a link whose account is on a plan with these terms. */
async function onPlan({ accountId, call }: Awaited<ReturnType<typeof openLink>>, terms: object): Promise<Answer> {
  const name = `terms-${accountId}`;
  await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name, ...terms } });
  await t.db.prisma.account.update({ where: { id: accountId }, data: { planName: name } });
  return call();
}

const PROVOCATIONS: Partial<Record<ErrorId, () => Promise<Answer>>> = {
  invalid_link: async () => {
    const { path } = await openLink();
    return ask(`${path.slice(0, -1)}${path.endsWith("A") ? "B" : "A"}`, { address: freshAddress() });
  },
  invalid_parameter: async () => (await openLink()).call("&tickers=XAUUSD"),
  missing_parameter: () => ask(linkOperation.path),
  unsupported_timeframe: async () => {
    const listing = t.markets.live.catalogue.find("GBPUSD") as { timeframes: readonly string[] };
    listing.timeframes = ["H1"];
    return (await openLink({ operation: "klines", query: "ticker=GBPUSD&timeframe=M1&format=csv" })).call();
  },
  unknown_ticker: async () => (await openLink({ query: "tickers=AAABBB&format=csv" })).call(),
  market_data_not_ready: async () => (await openLink({ query: "tickers=USDJPY&format=csv" })).call(),
  insufficient_scope: async () => (await withKey({ scopes: ["market:stream"] })).call(),
  unknown_file: async () => (await openLink({ operation: "file", query: "id=klines-EURUSD-2020-01&format=parquet" })).call(),
  range_not_satisfiable: async () => {
    const link = await openLink({ operation: "file", query: "id=klines-EURUSD-2026-10&format=parquet" });
    return link.call("", { headers: { range: "bytes=900000-" } });
  },
  key_not_yet_valid: async () => {
    const link = await openLink();
    await t.db.prisma.apiKey.update({ where: { id: link.key.id }, data: { notBefore: new Date(t.clock.now() + 60_000) } });
    return link.call();
  },
  origin_not_allowed: async () => (await openLink()).call("", { headers: { origin: "https://a.example.com" } }),
  address_not_allowed: async () => (await withKey({ addresses: ["192.0.2.0/24"] })).call(),
  account_suspended: async () => {
    const link = await openLink();
    await t.db.prisma.account.update({ where: { id: link.accountId }, data: { suspendedAt: new Date() } });
    return link.call();
  },
  live_access_required: async () => {
    const link = await openLink();
    await t.db.prisma.account.update({ where: { id: link.accountId }, data: { liveAccess: false } });
    return link.call();
  },
  quota_exceeded: async () => onPlan(await openLink(), { monthUnits: 0, monthHard: true }),
  not_in_plan: async () =>
    onPlan(await openLink({ operation: "file", query: "id=klines-EURUSD-2020-01&format=parquet" }), { historyDays: 1 }),
  method_not_allowed: async () => (await openLink()).call("", { method: "POST" }),
  uri_too_long: async () => (await openLink()).call(`&x=${"a".repeat(URI_MAX_BYTES)}`),
  rate_limited: async () => {
    const { call } = await openLink();
    for (let index = 0; index < LINK_CALLS_BURST_COUNT; index += 1) expect((await call()).status).toBe(200);
    return call();
  },
  internal_error: () => breaking(new Error("broken")),
  service_unavailable: () => breaking(Object.assign(new Error("gone"), { code: "57P01" })),
};

/** Makes a link read a market that fails. */
async function breaking(error: Error): Promise<Answer> {
  const { call } = await openLink();
  const { catalogue } = t.markets.live;
  const { find } = catalogue;
  const fail = () => {
    throw error;
  };
  Object.assign(catalogue, { find: fail });
  try {
    return await call();
  } finally {
    Object.assign(catalogue, { find });
  }
}

describe("the errors of a link", () => {
  test.each(linkOperation.errors)("%s is answered as declared", async (error) => {
    const { status, headers, body } = (await PROVOCATIONS[error]?.()) ?? {};
    expect(body).toMatchObject({ code: ERRORS[error].code, message: error });
    expect(status).toBe(httpStatus(error));
    expect(Failure.parse(body)).toEqual(body);
    expect(headers?.get("cache-control")).toBe("no-store");
    expect(headers?.get("x-request-id")).toBe(body.data.request_id);
  });

  test("the limit is the link's own: another link of the same key still answers, and the refusal says which limit it was", async () => {
    const { call, key } = await openLink();
    for (let index = 0; index < LINK_CALLS_BURST_COUNT; index += 1) await call();
    const refused = await call();
    expect(refused.body.data.detail).toContain("this link");
    expect(refused.headers.get("ratelimit-policy")).toBe(`"link";q=${LINK_CALLS_BURST_COUNT};w=60`);
    const other = await makeLink({ ...t.keyContext, secret: TEST_SECRET }, key.id);
    expect((await ask(other.path)).status).toBe(200);
  });

  test("calls count for the account too, like those with its key", async () => {
    const { call, text } = await openLink({}, { plan: "free" });
    const left = async () => (await t.ask("/api/v1/key", { key: text })).body.data.quota.remaining;
    const before = await left();
    await call();
    expect(await left()).toBe(before - 1);
  });
});

describe("what comes before a GET", () => {
  /** What LibreOffice 7.4 sends for one load of an external link. */
  const LOAD = ["OPTIONS", "HEAD", "HEAD", "GET"] as const;

  test("is free: a load of LibreOffice counts once, for the link and for the account", async () => {
    const { call, text } = await openLink({}, { plan: "free" });
    const left = async () => (await t.ask("/api/v1/key", { key: text })).body.data.quota.remaining;
    const before = await left();
    const statuses: number[] = [];
    for (const method of LOAD) statuses.push((await call("", { method })).status);
    expect(statuses).toEqual([204, 200, 200, 200]);
    expect(await left()).toBe(before - 1);
    expect((await call("", { method: "HEAD" })).headers.get("x-ratelimit-cost")).toBe("0");
    for (let index = 1; index < LINK_CALLS_BURST_COUNT; index += 1) expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(429);
  });

  test("is bounded too: HEAD has a limit of its own, as large as the plan's", async () => {
    const { call } = await openLink({}, { plan: "free" });
    const head = () => call("", { method: "HEAD" });
    for (let index = 0; index < PLAN_DEFAULTS.free.restBurst; index += 1) expect((await head()).status).toBe(200);
    expect((await head()).status).toBe(429);
    expect((await call()).status).toBe(200);
  });
});

describe("strangers", () => {
  test("guesses count as failed authentications, and ask the database for nothing", async () => {
    const { path } = await openLink();
    const address = freshAddress();
    const pool = t.db.pool as { query: (...parts: unknown[]) => unknown };
    const { query } = pool;
    let asked = 0;
    pool.query = (...parts) => {
      asked += 1;
      return query.apply(pool, parts);
    };
    const answers: string[] = [];
    try {
      for (let index = 0; index <= AUTH_FAILURES_PER_MINUTE_COUNT; index += 1)
        answers.push((await ask(`${path}${index}`, { address })).body.message);
    } finally {
      pool.query = query;
    }
    expect(new Set(answers.slice(0, -1))).toEqual(new Set(["invalid_link"]));
    expect(answers.at(-1)).toBe("rate_limited");
    expect(asked).toBe(0);
    expect((await ask(path, { address })).status, "the link of somebody else at this address").toBe(200);
  });

  test("a link that ended asks the database once, however often it is called", async () => {
    const link = await openLink();
    await revokeLink(t.keyContext, link.id, link.by);
    await t.settle();
    const pool = t.db.pool as { query: (...parts: unknown[]) => unknown };
    const { query } = pool;
    let asked = 0;
    pool.query = (...parts) => {
      asked += String(parts[0]).includes("data_link") ? 1 : 0;
      return query.apply(pool, parts);
    };
    try {
      for (let index = 0; index < 5; index += 1)
        expect(await link.call("", { address: freshAddress() })).toMatchObject(failed("invalid_link"));
    } finally {
      pool.query = query;
    }
    expect(asked).toBe(1);
  });
});

test("calls are counted and logged as calls of links, with the call they stand for and never with the token", async () => {
  const { call, accountId, key, id } = await openLink({ query: "tickers=EURUSD&format=csv" });
  await call("", { headers: { "user-agent": "Excel" }, address: "198.51.100.77" });
  await t.usage.flush();
  const [logged] = await t.db.prisma.requestLog.findMany({ where: { accountId } });
  expect(logged).toMatchObject({
    keyId: key.id,
    operation: "link",
    method: "GET",
    path: `${operations.latestQuotes.path}?tickers=EURUSD&format=csv`,
    status: 200,
    userAgent: "Excel",
  });
  const buckets = await t.db.prisma.usageBucket.findMany({ where: { accountId } });
  expect(new Set(buckets.map(({ operation }) => operation))).toEqual(new Set(["link"]));
  await t.clock.advance(5_000);
  await expect
    .poll(async () => (await t.db.prisma.dataLink.findUniqueOrThrow({ where: { id } })).lastUsedAddress)
    .toBe("198.51.100.0/24");
  expect(JSON.stringify([logged?.path, t.logged])).not.toContain("sw_link_");
});
