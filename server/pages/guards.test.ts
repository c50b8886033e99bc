import { encode } from "next-auth/jwt";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { PORTAL, type PortalBrowser, portalBrowser, tokenMailedBy } from "#server/testing/portal-browser";
import { failed, freshAddress, TEST_SECRET, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { portalRoute } from "./route";
import { setPortal } from "./runtime";

const PASSWORD = "correct horse battery";
const SESSION = "spotwire.session";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterEach(() => setPortal(t));
afterAll(() => t.close());

const newEmail = () => `guarded${++people}@example.com`;
const isIn = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status === 200;

async function member(): Promise<{ email: string; browser: PortalBrowser }> {
  const email = newEmail();
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.signIn(email, PASSWORD);
  return { email, browser };
}

describe("a change requested by another site", () => {
  test.each([undefined, "null", "https://evil.example", "http://spotwire.test.evil.example", "https://spotwire.test"])(
    "a change requested by a page of another site is refused: origin %s",
    async (origin) => {
      const { browser } = await member();
      expect(await browser.send("DELETE /sessions", { headers: { origin } })).toMatchObject({
        status: 403,
        ...failed("origin_not_allowed"),
      });
      expect(await isIn(browser)).toBe(true);
    },
  );

  test("whoever opened the portal by another address than PUBLIC_URL is told the right one, in sign-in too", async () => {
    setPortal({ ...t, env: { ...t.env, PUBLIC_URL: "https://spotwire.example" } });
    const browser = portalBrowser();
    const detail = "Changes are accepted from the portal's own pages only. Its address is https://spotwire.example.";
    const told = { message: "origin_not_allowed", data: { detail } };
    expect((await browser.send("POST /forgot", { body: { email: "ada@example.com" } })).body).toMatchObject(told);
    const answer = await browser.auth("callback/credentials", { email: "ada@example.com", password: PASSWORD });
    expect(await answer.json()).toMatchObject(told);
  });

  test("a change sent as a form, which a page may send without a preflight, is refused", async () => {
    const { browser } = await member();
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"])
      expect(await browser.send("PATCH /profile", { headers: { "content-type": type } })).toMatchObject(
        failed("invalid_parameter", { parameter: "content-type" }),
      );
  });

  test("a page of another site can sign nobody in or out: next-auth requires its token, and the origin must match", async () => {
    const { email, browser } = await member();
    const form = { email, password: PASSWORD, json: "true" };
    const stranger = portalBrowser();
    await stranger.auth("callback/credentials", form);
    await stranger.auth("callback/credentials", { ...form, csrfToken: "0".repeat(64) });
    expect(stranger.cookies.has(SESSION)).toBe(false);
    await browser.auth("signout", { json: "true" });
    expect(await isIn(browser)).toBe(true);
    const csrfToken = await browser.csrfToken();
    expect((await browser.auth("signout", { csrfToken, json: "true" }, { origin: "https://evil.example" })).status).toBe(403);
    expect(await isIn(browser)).toBe(true);
    await browser.auth("signout", { csrfToken, json: "true" });
    expect(browser.cookies.has(SESSION)).toBe(false);
  });
});

describe("the session cookie", () => {
  test("the session cookie is hidden from scripts and other sites, and limited to TLS where TLS is used", async () => {
    const { email } = await member();
    const lineOf = async (origin: string) => {
      const browser = portalBrowser();
      const headers = { origin };
      const csrf = await browser.auth("csrf");
      const { csrfToken } = (await csrf.json()) as { csrfToken: string };
      const answer = await browser.auth("callback/credentials", { email, password: PASSWORD, csrfToken }, headers);
      return answer.headers.getSetCookie().find((line) => line.includes("spotwire.session=")) ?? "";
    };
    const plain = await lineOf(PORTAL);
    for (const attribute of ["Path=/", "HttpOnly", "SameSite=Lax"]) expect(plain).toContain(attribute);
    setPortal({ ...t, env: { ...t.env, PUBLIC_URL: "https://spotwire.example" } });
    expect(await lineOf("https://spotwire.example")).toMatch(/^__Host-spotwire\.session=.*Secure/);
  });

  test("each sign-in starts a new session, which ends the browser's previous one", async () => {
    const { email, browser } = await member();
    const before = browser.cookies.get(SESSION) ?? "";
    await browser.signIn(email, PASSWORD);
    expect(browser.cookies.get(SESSION)).not.toBe(before);
    expect(await isIn(browser)).toBe(true);
    browser.cookies.set(SESSION, before);
    expect(await isIn(browser)).toBe(false);
  });

  test("a session cookie planted by an attacker does not become the victim's session", async () => {
    const attacker = await member();
    const victim = await member();
    const planted = attacker.browser.cookies.get(SESSION) ?? "";
    const browser = portalBrowser();
    browser.cookies.set(SESSION, planted);
    await browser.signIn(victim.email, PASSWORD);
    expect(await isIn(attacker.browser)).toBe(false);
    const { user } = (await (await browser.auth("session")).json()) as { user: { email: string } };
    expect(user.email).toBe(victim.email);
  });

  test("a session cookie stops working after sign-out, even a copy of it", async () => {
    const { browser } = await member();
    const kept = browser.cookies.get(SESSION) ?? "";
    await browser.auth("signout", { csrfToken: await browser.csrfToken(), json: "true" });
    browser.cookies.set(SESSION, kept);
    expect(await isIn(browser)).toBe(false);
    expect(await (await browser.auth("session")).json()).toEqual({});
    expect(browser.cookies.has(SESSION)).toBe(false);
  });

  test("a session cookie cannot be forged without the secret, and must name an existing session", async () => {
    const { browser } = await member();
    const sessionId = (await browser.send("GET /sessions")).body.data.items[0].id;
    const forge = (sid: unknown, secret: string) => encode({ token: { sub: "x", sid }, secret });
    const forged = [
      await forge(sessionId, "another secret that somebody made up"),
      await forge("00000000-0000-4000-8000-000000000000", TEST_SECRET),
      await forge("' OR 1=1", TEST_SECRET),
      await forge(7, TEST_SECRET),
      "rubbish",
      "a.b.c.d.e",
      "%E0%A4%A",
    ];
    for (const cookie of forged) {
      const stranger = portalBrowser();
      stranger.cookies.set(SESSION, cookie);
      expect(await isIn(stranger)).toBe(false);
    }
    const control = portalBrowser();
    control.cookies.set(SESSION, await forge(sessionId, TEST_SECRET));
    expect(await isIn(control)).toBe(true);
  });
});

describe("signing in", () => {
  test.each([
    ["https://evil.example/x", PORTAL],
    ["//evil.example", PORTAL],
    ["/\\evil.example", PORTAL],
    ["javascript:alert(1)", PORTAL],
    ["http://spotwire.test@evil.example", PORTAL],
    ["/dashboard/keys", `${PORTAL}/dashboard/keys`],
  ])("signing in never leads to another site: requested %s, ends at %s", async (callbackUrl, end) => {
    const { email } = await member();
    const browser = portalBrowser();
    const form = { email, password: PASSWORD, csrfToken: await browser.csrfToken(), callbackUrl };
    const location = (await browser.auth("callback/credentials", form)).headers.get("location") ?? "";
    expect(new URL(location, PORTAL).href.replace(/\/$/, "")).toBe(end);
  });

  test("signing in does not reveal whether an address or the password is wrong", async () => {
    const { email } = await member();
    expect(await portalBrowser().signIn(email, "not the password")).toBe("CredentialsSignin");
    expect(await portalBrowser().signIn(newEmail(), "not the password")).toBe("CredentialsSignin");
  });

  test("sign-in attempts of one client are limited, whichever accounts it tries", async () => {
    const browser = portalBrowser();
    const errors = new Set<string | null>();
    for (let attempt = 0; attempt < 31; attempt += 1) errors.add(await browser.signIn(newEmail(), "a guess"));
    expect([...errors]).toEqual(["CredentialsSignin", "rate_limited"]);
  });

  test("sign-in attempts on one account are limited, whether it exists or not, and the owner can sign in again later", async () => {
    const { email } = await member();
    for (const target of [email, newEmail()]) {
      const errors: (string | null)[] = [];
      for (let attempt = 0; attempt < 31; attempt += 1) errors.push(await portalBrowser().signIn(target, "a guess"));
      expect(new Set(errors.slice(0, 29))).toEqual(new Set(["CredentialsSignin"]));
      expect(errors.at(-1)).toBe("rate_limited");
    }
    await t.clock.advance(60_000);
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
  });

  test("a client that guesses at one account is stopped long before others are locked out of it", async () => {
    const { email } = await member();
    const guesser = portalBrowser();
    const errors: (string | null)[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) errors.push(await guesser.signIn(email, "a guess"));
    expect(errors.at(-1)).toBe("rate_limited");
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
  });
});

describe("a link in a mail", () => {
  test("a link in a mail never leads to a host chosen by the requester", async () => {
    const { email } = await member();
    await t.clock.advance(60_000);
    const headers = { host: "evil.example", origin: "http://evil.example", "x-forwarded-host": "evil.example" };
    expect(
      await tokenMailedBy(t.capturedMails, email, () => portalBrowser().send("POST /forgot", { body: { email }, headers })),
    ).not.toBe("");
    const [mail] = t.capturedMails.list();
    expect(mail?.text).toContain("http://localhost:3000/reset#token=");
    expect(mail?.text).not.toContain("evil");
  });

  test("a link in a mail starts with PUBLIC_URL when it is set", async () => {
    const PUBLIC_URL = "https://spotwire.example";
    const { email } = await member();
    setPortal({ ...t, env: { ...t.env, PUBLIC_URL } });
    const headers = { origin: PUBLIC_URL };
    await tokenMailedBy(t.capturedMails, email, () => portalBrowser().send("POST /forgot", { body: { email }, headers }));
    expect(t.capturedMails.list()[0]?.text).toContain(`${PUBLIC_URL}/reset#token=`);
  });
});

describe("a route of the portal", () => {
  const operators = portalRoute("GET /x", { user: "operator" }, ({ user }) => ({ email: user.email }));
  const echo = portalRoute(
    "POST /x",
    { input: z.strictObject({ a: z.string().optional() }), user: "none" },
    ({ input }) => input,
  );
  const broken = portalRoute("POST /x", { user: "none" }, () => {
    throw new Error("the secret is in here");
  });

  test("a route for operators does not exist for other users", async () => {
    const { email, browser } = await member();
    const ask = (who: PortalBrowser) => who.send(operators);
    expect(await ask(portalBrowser())).toMatchObject({ status: 401, ...failed("unauthorized") });
    expect(await ask(browser)).toMatchObject({ status: 404, ...failed("not_found") });
    await t.db.prisma.user.update({ where: { email }, data: { operator: true } });
    expect(await ask(browser)).toMatchObject({ status: 403, ...failed("second_factor_required") });
    await t.db.prisma.user.update({ where: { email }, data: { totpSince: new Date(t.clock.now()) } });
    expect((await ask(browser)).body.data).toEqual({ email });
  });

  test("a route of the portal reads at most 64 KiB", async () => {
    expect(await portalBrowser().send(echo, { body: { a: "x".repeat(60_000) } })).toMatchObject({ status: 200 });
    expect(await portalBrowser().send(echo, { body: { a: "x".repeat(70_000) } })).toMatchObject({
      status: 413,
      ...failed("payload_too_large", { max: 65_536 }),
    });
  });

  test("an internal error of the portal is not shown, and is logged with the request id", async () => {
    const answer = await portalBrowser().send(broken, { headers: { "x-request-id": "req_broken" } });
    expect(answer).toMatchObject({ status: 500, ...failed("internal_error", { request_id: "req_broken" }) });
    expect(answer.text).not.toContain("secret");
    expect(t.logged.at(-1)).toMatchObject({ request_id: "req_broken", err: { message: "the secret is in here" } });
  });

  test("requests of one client to the portal are limited", async () => {
    const browser = portalBrowser(freshAddress());
    const statuses: number[] = [];
    for (let call = 0; call < 201; call += 1) statuses.push((await browser.send(echo)).status);
    expect(statuses.indexOf(429)).toBe(200);
  });
});
