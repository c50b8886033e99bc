import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limitOwner, ownSlot } from "#lib/access/principal";
import { STREAM_TICKET_LIFETIME_S } from "#lib/contract/limits";
import { StreamTicket } from "#lib/contract/stream-ticket";
import { operations } from "#lib/operations/declarations";
import { DEMO_KEY, failed, freshAddress, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PATH = operations.createStreamTicket.path;
const [OWN, OTHER, EVIL] = ["https://app.example.com", "https://www.example.org", "https://evil.example.net"];
let t: TestRuntime;
let key: string;

beforeAll(async () => {
  t = await testRuntime();
  const settings = { scopes: ["market:stream"], origins: [OWN, OTHER, "https://*.pages.example"] };
  key = (await t.issueKey(settings)).text;
});
afterAll(() => t.close());

const ask = (headers: Record<string, string> = {}, query = "", more: object = {}) =>
  t.ask(PATH + query, { method: "POST", key, headers, ...more });
const named = (origin: string) => `?origin=${encodeURIComponent(origin)}`;

/** Redeems a ticket from an origin (null for no browser); returns the error, undefined on success. */
async function goodFor(ticket: string, origin: string | null): Promise<string | undefined> {
  return t.access.redeemTicket(ticket, origin, freshAddress()).then(
    () => undefined,
    (error: { id: string }) => error.id,
  );
}

describe("a ticket for a stream", () => {
  test("a ticket is never cached, reports its expiry, and costs one request", async () => {
    const answer = await ask({ origin: OWN });
    expect(answer).toMatchObject({ status: 200, body: { code: 0, message: "success" } });
    expect(StreamTicket.parse(answer.body.data)).toEqual(answer.body.data);
    expect(Date.parse(answer.body.data.expires_at)).toBe(t.clock.now() + STREAM_TICKET_LIFETIME_S * 1000);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("access-control-allow-origin")).toBe(OWN);
    const again = await ask({ origin: OWN });
    const left = (headers: Headers) => Number(headers.get("x-ratelimit-remaining"));
    expect(left(answer.headers) - left(again.headers)).toBe(1);
  });

  test("a ticket is bound to the page that requests it", async () => {
    const ticketOf = async () => (await ask({ origin: OWN })).body.data.ticket;
    expect(await goodFor(await ticketOf(), OWN)).toBeUndefined();
    for (const origin of [OTHER, EVIL, null]) expect(await goodFor(await ticketOf(), origin)).toBe("origin_not_allowed");
  });

  test("a ticket is bound to the page that a server names, in the form browsers send", async () => {
    for (const [text, origin] of [
      [OTHER, OTHER],
      ["https://APP.example.com", OWN],
      ["https://a.pages.example", "https://a.pages.example"],
    ] as const) {
      const { ticket } = (await ask({}, named(text))).body.data;
      expect(await goodFor(ticket, origin)).toBeUndefined();
    }
    expect(await goodFor((await ask({}, named(OTHER))).body.data.ticket, null)).toBe("origin_not_allowed");
  });

  test("a ticket without an origin opens no stream from a browser", async () => {
    expect(await goodFor((await ask()).body.data.ticket, null)).toBeUndefined();
    expect(await goodFor((await ask()).body.data.ticket, OWN)).toBe("origin_not_allowed");
  });

  test("a ticket is refused for an origin that the key does not allow", async () => {
    expect(await ask({}, named(EVIL))).toMatchObject({ status: 403, ...failed("origin_not_allowed", { parameter: "origin" }) });
    expect(await ask({ origin: EVIL })).toMatchObject({ status: 403, ...failed("origin_not_allowed") });
    expect(await ask({ origin: EVIL }, named(OWN))).toMatchObject({ status: 403, ...failed("origin_not_allowed") });
  });

  test("one page cannot request a ticket for another, even if the key allows both", async () => {
    expect(await ask({ origin: OWN }, named(OTHER))).toMatchObject({ status: 403, ...failed("origin_not_allowed") });
    expect(await ask({ origin: OWN }, named(OWN))).toMatchObject({ status: 200 });
  });

  test.each(["app.example.com", "https://app.example.com/", "https://app.example.com/page", "*", "null", ""])(
    "a ticket is refused for an invalid origin: %j",
    async (text) => {
      const answer = await ask({}, named(text));
      expect(answer.status).toBe(400);
      expect(answer.body.data.parameter).toBe("origin");
    },
  );

  test("a ticket requires the scope of streams", async () => {
    const { text } = await t.issueKey({ scopes: ["market:read"] });
    const answer = await ask({}, "", { key: text });
    expect(answer).toMatchObject({ status: 403, ...failed("insufficient_scope", { required: "market:stream" }) });
    expect(await ask({}, "", { key: null })).toMatchObject({ status: 401, ...failed("unauthorized") });
  });

  test("no ticket is issued while a connection would find no place, neither by its key nor by its account", async () => {
    const limited = await t.issueKey({ scopes: ["market:stream"], account: "few", plan: "demo", streamConnections: 1 });
    const other = await t.issueKey({ scopes: ["market:stream"], account: "few", plan: "demo" });
    const principal = await t.access.verify(limited.text, freshAddress());
    const full = (max: number) => ({ status: 429, ...failed("too_many_connections", { max, retry_after: 5 }) });
    const [slot, { accountId, plan }] = [ownSlot(principal), principal];

    t.connections.open(slot, 1);
    expect(await ask({}, "", { key: limited.text })).toMatchObject(full(1));
    expect(await ask({}, "", { key: other.text })).toMatchObject({ status: 200 });
    t.connections.close(slot);
    expect(await ask({}, "", { key: limited.text })).toMatchObject({ status: 200 });

    const max = plan.streamConnections;
    for (let count = 0; count < max; count += 1) t.connections.open(accountId, max);
    for (const { text } of [limited, other]) expect(await ask({}, "", { key: text })).toMatchObject(full(max));
    t.connections.close(accountId);
    expect(await ask({}, "", { key: other.text })).toMatchObject({ status: 200 });
  });

  test("the demo key gets no ticket where its address has no place, unless a server asks for a page elsewhere", async () => {
    const address = freshAddress();
    const demo = await t.access.verify(DEMO_KEY, address);
    const max = demo.plan.streamConnections;
    const here = { key: DEMO_KEY, address };
    for (let count = 0; count < max; count += 1) t.connections.open(limitOwner(demo, address), max);
    expect(await ask({ origin: EVIL }, "", here)).toMatchObject({ status: 429, ...failed("too_many_connections", { max }) });
    expect(await ask({ origin: EVIL }, "", { ...here, address: freshAddress() })).toMatchObject({ status: 200 });
    expect(await ask({}, named(EVIL), here)).toMatchObject({ status: 200 });
  });

  test("a ticket of the demo key is issued to any page, and bound to it", async () => {
    const answer = await ask({ origin: EVIL }, "", { key: DEMO_KEY, address: freshAddress() });
    const { ticket } = answer.body.data;
    expect(await t.access.redeemTicket(ticket, EVIL, freshAddress())).toMatchObject({ venue: "sandbox", perAddress: true });
    const second = (await ask({ origin: EVIL }, "", { key: DEMO_KEY, address: freshAddress() })).body.data.ticket;
    expect(await goodFor(second, OWN)).toBe("origin_not_allowed");
  });

  test("tickets are issued by POST only, and preflights are answered", async () => {
    const get = await t.ask(PATH, { key });
    expect(get).toMatchObject({ status: 405, ...failed("method_not_allowed") });
    expect(get.headers.get("allow")).toBe("POST, OPTIONS");
    const preflight = await t.ask(PATH, { method: "OPTIONS", key: null, headers: { origin: OWN } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST");
    expect(preflight.headers.get("access-control-allow-headers")).toMatch(/^authorization, .*content-type/);
  });
});
