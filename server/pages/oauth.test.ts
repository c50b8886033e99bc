import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CLIENT_DOCUMENT_KEPT_S, CLIENT_DOCUMENTS_KEPT_MAX_COUNT } from "#lib/contract/limits";
import { BODY_MAX_BYTES } from "#lib/http/input";
import { DAY_MS, HOUR_MS, SECOND_MS } from "#lib/units";
import { revokeKey, rotateKey } from "#server/store/access/keys";
import { portalBrowser, signedInBrowser } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { connectHost, createClientReader, declinedUrl, exchangeCode, readAuthorization, tokenAnswer } from "./oauth";
import { portal } from "./runtime";
import { ADDRESS_HEADER } from "./visitor";

const BASE = "https://prices.test";
const CLIENT = "https://host.test/client.json";
const REDIRECT = "https://host.test/callback?from=prices";
const DOCUMENT = { client_id: CLIENT, client_name: "A host", redirect_uris: [REDIRECT, "http://127.0.0.1/done"] };
const INSTRUMENTS = "/api/v1/market/instruments";
const VERIFIER = randomBytes(32).toString("base64url");
const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");
const ASKED = {
  response_type: "code",
  client_id: CLIENT,
  redirect_uri: REDIRECT,
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: "S256",
  resource: `${BASE}/mcp`,
  state: "a state",
};

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const reading = (document: unknown) => async () => (typeof document === "string" ? document : JSON.stringify(document));
const authorize = (changed: object = {}, document: unknown = DOCUMENT, accountId: string = randomUUID()) =>
  readAuthorization({ ...ASKED, ...changed }, BASE, accountId, {
    users: portal().users,
    readClient: createClientReader(portal(), reading(document)),
  });

/** Signs a user in who allows the host: the parameters that the host gets, and the key that was made. */
async function consent(name: string, authorization?: Awaited<ReturnType<typeof authorize>>) {
  const { accountId } = await signedInBrowser(t, name, { plan: "endless" });
  const user = await t.db.prisma.user.findFirstOrThrow({ where: { accountId } });
  const by = { actor: { id: user.id, name: user.email }, accountId, address: "203.0.113.9" };
  const choice = { venue: "live" as const, expires_at: new Date(t.clock.now() + 30 * DAY_MS).toISOString() };
  const { url, ...key } = await connectHost(authorization ?? (await authorize()), choice, by, BASE, portal());
  const { searchParams, origin, pathname } = new URL(url);
  return { key, at: origin + pathname, given: Object.fromEntries(searchParams) };
}

function exchange(code: string | undefined, changed: Record<string, string> = {}) {
  const form = { grant_type: "authorization_code", code: code ?? "", client_id: CLIENT, redirect_uri: REDIRECT };
  const whole = { ...form, code_verifier: VERIFIER, resource: `${BASE}/mcp`, ...changed };
  return exchangeCode(new URLSearchParams(whole), BASE, portal());
}

describe("an agent that connects by URL", () => {
  test("gets a key of the account for the code of the consent, which ends when it is revoked", async () => {
    const { key, at, given } = await consent("connected");
    expect(at).toBe("https://host.test/callback");
    expect(given).toEqual({ from: "prices", code: given.code, iss: BASE, state: "a state" });
    expect(key).toMatchObject({
      name: "A host",
      agentHost: "host.test",
      venue: "live",
      scopes: ["market:read"],
      origins: ["https://host.test"],
    });
    const { status, body } = await exchange(given.code);
    expect([status, body]).toEqual([
      200,
      { access_token: expect.stringMatching(/^sw_live_/), token_type: "Bearer", expires_in: 30 * 86_400, scope: "market:read" },
    ]);
    await t.settle();
    const token = String(body.access_token);
    expect(await t.ask(INSTRUMENTS, { key: token })).toMatchObject({ status: 200 });
    await t.usage.flush();
    const { rows } = await t.db.pool.query("SELECT path FROM request_log WHERE key_id = $1", [key.id]);
    expect(rows).toEqual([{ path: INSTRUMENTS }]);
    await expect(rotateKey(t.keyContext, key.id, "now")).rejects.toThrow("connect the agent again");
    const audited = await t.db.prisma.auditEntry.findFirst({ where: { action: "key.create", target: key.id } });
    expect(audited?.after).toMatchObject({ name: "A host", agent_host: "host.test" });
    await revokeKey(t.keyContext, key.id);
    await t.settle();
    expect(await t.ask(INSTRUMENTS, { key: token })).toMatchObject(failed("unauthorized"));
  });

  test("loses its key when its code is used a second time", async () => {
    const { given, key } = await consent("replayed");
    const { body } = await exchange(given.code);
    expect(await exchange(given.code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    await t.settle();
    expect(await t.ask(INSTRUMENTS, { key: String(body.access_token) })).toMatchObject(failed("unauthorized"));
    expect(await t.db.prisma.apiKey.findUnique({ where: { id: key.id } })).toMatchObject({ revokedAt: expect.any(Date) });
    expect(await exchange(given.code)).toMatchObject({ body: { error: "invalid_grant" } });
  });

  test("gets one key when its code is used twice at the same time", async () => {
    const { given } = await consent("raced");
    const answers = await Promise.all([exchange(given.code), exchange(given.code)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test.each([
    ["another verifier", { code_verifier: "x".repeat(43) }, "invalid_grant", /code_verifier/],
    ["no verifier", { code_verifier: "" }, "invalid_grant", /code_verifier/],
    ["another client", { client_id: "https://other.test/client.json" }, "invalid_grant", /another client/],
    ["another redirect", { redirect_uri: "https://host.test/callback" }, "invalid_grant", /redirect_uri/],
    ["another resource", { resource: "https://prices.test/other" }, "invalid_target", /https:\/\/prices\.test\/mcp/],
    ["another grant", { grant_type: "refresh_token" }, "unsupported_grant_type", /authorization_code/],
    ["a code of its own making", { code: "e30.abc" }, "invalid_grant", /not one of this service/],
  ])("gets no key with %s, and keeps its code", async (_, changed, error, words) => {
    const { given } = await consent(`refused ${error} ${Object.keys(changed)} ${Object.values(changed)[0]?.length}`);
    expect(await exchange(given.code, changed)).toMatchObject({
      status: 400,
      body: { error, error_description: expect.stringMatching(words) },
    });
    expect(await exchange(given.code)).toMatchObject({ status: 200 });
  });

  test("gets its key however long its URLs are", async () => {
    const client_id = `https://host.test/${"c".repeat(1_900)}`;
    const redirect_uri = `https://host.test/?${"ä".repeat(1_900)}`;
    const document = { ...DOCUMENT, client_id, redirect_uris: [redirect_uri] };
    const { given } = await consent("long", await authorize({ client_id, redirect_uri }, document));
    expect(await exchange(given.code, { client_id, redirect_uri })).toMatchObject({ status: 200 });
  });

  test("gets no key with a code that is older than a minute, and none is accepted after the day that the account chose", async () => {
    const late = await consent("late");
    const timely = await consent("timely");
    const { body } = await exchange(timely.given.code);
    t.clock.set(t.clock.now() + 60_000);
    expect(await exchange(late.given.code)).toMatchObject({
      body: { error: "invalid_grant", error_description: expect.stringContaining("expired") },
    });
    await t.settle();
    expect(await t.ask(INSTRUMENTS, { key: String(body.access_token) })).toMatchObject({ status: 200 });
    t.clock.set(t.clock.now() + 30 * DAY_MS);
    expect(await t.ask(INSTRUMENTS, { key: String(body.access_token) })).toMatchObject(failed("unauthorized"));
  });

  test("is told when the account declines", async () => {
    const { request } = await authorize();
    expect(declinedUrl(request, BASE)).toBe(`${REDIRECT}&error=access_denied&iss=https%3A%2F%2Fprices.test&state=a+state`);
  });
});

describe("a sign-in of a host", () => {
  test.each([
    ["without PKCE", { code_challenge: undefined }, "code_challenge"],
    ["with plain PKCE", { code_challenge_method: "plain" }, "code_challenge_method"],
    ["for a token in the URL", { response_type: "token" }, "response_type"],
    ["for another resource", { resource: "https://elsewhere.test/mcp" }, "resource"],
    ["of a client without a document", { client_id: "my-client" }, "client_id"],
    ["of a client without TLS", { client_id: "http://host.test/client.json" }, "client_id"],
    ["of a whole host", { client_id: "https://host.test/" }, "client_id"],
    ["of a client by another spelling", { client_id: "https://host.test/x/../client.json" }, "client_id"],
    ["of a client by its fragment", { client_id: `${CLIENT}#` }, "client_id"],
    ["with a parameter that is too long", { state: "x".repeat(2_001) }, "state"],
    ["with a redirect without TLS", { redirect_uri: "http://host.test/callback?from=prices" }, "redirect_uri"],
    ["with a redirect with a fragment", { redirect_uri: `${REDIRECT}#a` }, "redirect_uri"],
    ["with a redirect to a network", { redirect_uri: "http://127.0.0.1.evil.test/done" }, "redirect_uri"],
    ["with a foreign redirect", { redirect_uri: "https://evil.test/callback" }, "redirect_uri"],
    ["with a longer redirect", { redirect_uri: `${REDIRECT}/more` }, "redirect_uri"],
    ["with a redirect that is a script", { redirect_uri: "javascript:alert(1)" }, "redirect_uri"],
    ["given twice", { client_id: [CLIENT, CLIENT] }, "client_id"],
  ])("%s is refused before anything is sent to it", async (_, changed, parameter) => {
    await expect(authorize(changed)).rejects.toMatchObject({ id: "invalid_parameter", data: { parameter } });
  });

  test.each([
    ["of another client", { ...DOCUMENT, client_id: "https://other.test/client.json" }, /of another client/],
    ["with a client secret", { ...DOCUMENT, token_endpoint_auth_method: "client_secret_post" }, /must be `none`/],
    [
      "with secrets of two kinds",
      { ...DOCUMENT, token_endpoint_auth_methods_supported: ["private_key_jwt", "client_secret_post"] },
      /must be `none`/,
    ],
    ["without redirects", { ...DOCUMENT, redirect_uris: [] }, /redirect_uris/],
    ["that is no JSON", "<html>", /not JSON/],
  ])("is refused when its document is one %s", async (_, document, words) => {
    await expect(authorize({}, document)).rejects.toThrow(words);
  });

  test("may return to a program on the reader's machine at any port, and shows a name without invisible characters", async () => {
    for (const redirect_uri of ["http://127.0.0.1/done", "http://127.0.0.1:51234/done"]) {
      const { request, isLocal, returnsTo } = await authorize({ redirect_uri });
      expect([request.redirect_uri, isLocal, returnsTo]).toEqual([redirect_uri, true, new URL(redirect_uri).host]);
    }
    expect(await authorize()).toMatchObject({ isLocal: false, returnsTo: "host.test" });
    await expect(authorize({ redirect_uri: "http://127.0.0.1:51234/other" })).rejects.toThrow(/redirect_uri/);
    expect(await authorize({}, { ...DOCUMENT, client_name: "\u202eA\u0000 host " })).toMatchObject({ name: "A host" });
    expect(await authorize({}, { ...DOCUMENT, client_name: undefined })).toMatchObject({ name: "host.test" });
  });

  test("may prefer a secret when its document lists that none will do, as that of ChatGPT does", async () => {
    const choice = {
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    };
    expect(await authorize({}, { ...DOCUMENT, ...choice })).toMatchObject({ host: "host.test" });
  });

  test("names the resource however its host is written", async () => {
    for (const resource of [undefined, "https://PRICES.test/mcp", "https://prices.test:443/mcp/"])
      expect(await authorize({ resource })).toMatchObject({ host: "host.test" });
  });

  test("has its document read again after five minutes, and of many clients the last hundred are kept", async () => {
    const read = vi.fn(async (url: string) => JSON.stringify({ ...DOCUMENT, client_id: url }));
    const readClient = createClientReader(portal(), read);
    await readClient(CLIENT);
    t.clock.set(t.clock.now() + CLIENT_DOCUMENT_KEPT_S * SECOND_MS - 1);
    await readClient(CLIENT);
    expect(read).toHaveBeenCalledTimes(1);
    t.clock.set(t.clock.now() + 1);
    await readClient(CLIENT);
    expect(read).toHaveBeenCalledTimes(2);
    for (let n = 0; n < CLIENT_DOCUMENTS_KEPT_MAX_COUNT; n += 1) await readClient(`https://other.test/${n}`);
    await readClient(CLIENT);
    expect(read).toHaveBeenCalledTimes(CLIENT_DOCUMENTS_KEPT_MAX_COUNT + 3);
  });

  test("that was refused has its document read again at once", async () => {
    const read = vi.fn().mockResolvedValueOnce("<html>").mockResolvedValueOnce(JSON.stringify(DOCUMENT));
    const readClient = createClientReader(portal(), read);
    await expect(readClient(CLIENT)).rejects.toThrow("not JSON");
    expect(await readClient(CLIENT)).toMatchObject({ client_id: CLIENT });
  });

  test("is refused, with no document read, once its account has asked for too many", async () => {
    const accountId = randomUUID();
    for (let n = 0; n < 20; n += 1) await authorize({}, DOCUMENT, accountId);
    const read = vi.fn(reading(DOCUMENT));
    const asked = readAuthorization(ASKED, BASE, accountId, {
      users: portal().users,
      readClient: createClientReader(portal(), read),
    });
    await expect(asked).rejects.toMatchObject({ id: "rate_limited" });
    expect(read).not.toHaveBeenCalled();
  });

  test("needs a member who may create keys, who has just proved who they are, on a page of the portal", async () => {
    const body = { request: ASKED, venue: "sandbox", expires_at: new Date(t.clock.now() + DAY_MS).toISOString() };
    const stranger = portalBrowser();
    for (const route of ["POST /connections", "POST /connections/decline"] as const)
      expect(await stranger.send(route, { body })).toMatchObject(failed("unauthorized"));
    const { browser } = await signedInBrowser(t, "foreign");
    expect(await browser.send("POST /connections", { body, headers: { origin: "https://evil.test" } })).toMatchObject(
      failed("origin_not_allowed"),
    );
    t.clock.set(t.clock.now() + HOUR_MS);
    expect(await browser.send("POST /connections", { body })).toMatchObject(failed("proof_required"));
    await t.db.pool.query("UPDATE membership SET role = 'reader'");
    expect(await browser.send("POST /connections", { body })).toMatchObject(failed("role_required"));
  });
});

describe("the token endpoint", () => {
  const post = (body: BodyInit, headers: Record<string, string> = {}) =>
    tokenAnswer(new Request(`${BASE}/oauth/token`, { method: "POST", body, headers }), BASE);

  test.each([
    ["nothing", "", 400, "unsupported_grant_type"],
    ["JSON", JSON.stringify({ grant_type: "authorization_code" }), 400, "unsupported_grant_type"],
    ["a code of nobody", "grant_type=authorization_code&code=a.b", 400, "invalid_grant"],
    ["more than it reads", "x".repeat(BODY_MAX_BYTES + 1), 413, "invalid_request"],
  ])("refuses %s as RFC 6749 has it, for pages of any site", async (_, body, status, error) => {
    const answer = await post(body);
    expect([answer.status, await answer.json()]).toEqual([status, { error, error_description: expect.any(String) }]);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("has a limit for each address, and says when to come back", async () => {
    const headers = { [ADDRESS_HEADER]: "198.51.100.77" };
    let answer = await post("", headers);
    for (let n = 0; n < 1_000 && answer.status !== 429; n += 1) answer = await post("", headers);
    expect([answer.status, await answer.json()]).toEqual([429, expect.objectContaining({ error: "temporarily_unavailable" })]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await post("", { [ADDRESS_HEADER]: "203.0.113.77" })).status).toBe(400);
  });
});
