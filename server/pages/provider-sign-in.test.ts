import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import { PORTAL_SESSION_LIMITS_S } from "#lib/contract/portal";
import { PROOF_LIFETIME_S, TOTP_PERIOD_S } from "#lib/contract/second-factor";
import { type OpenIdProvider, type ProviderPerson, startOpenIdProvider } from "#lib/testing/openid-provider";
import { SECOND_MS } from "#lib/units";
import { provedAtMsOf, signInChoices, verifiedGithubEmail } from "#server/pages/sign-in/providers";
import { accessBehindReset } from "#server/store/users/password";
import { mailedToken, PORTAL, type PortalBrowser, portalBrowser, tokenMailedBy } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { portal, setPortal } from "./runtime";

const PASSWORD = "correct horse battery";

let t: TestRuntime;
let provider: OpenIdProvider;
beforeAll(async () => {
  t = await testRuntime();
  provider = await startOpenIdProvider(`${PORTAL}/api/auth/callback/oidc`);
  // biome-ignore lint/suspicious/noConsole: it warns at its start that it keeps everything in memory, which is wanted here
  vi.mocked(console.warn).mockClear();
  const { issuer, clientId, clientSecret } = provider;
  const oidc = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: "Acme" };
  setPortal({ ...t, env: { ...t.env, ...oidc } });
});
afterAll(async () => {
  await provider.close();
  await t.close();
});

/** Starts a sign-in and returns the provider's URL. */
async function leave(browser: PortalBrowser): Promise<string> {
  const form = { csrfToken: await browser.csrfToken(), callbackUrl: "/dashboard", json: "true" };
  return ((await (await browser.auth("signin/oidc", form)).json()) as { url: string }).url;
}

async function comeBack(browser: PortalBrowser, back: URL): Promise<URL> {
  const response = await browser.auth(back.href.slice(`${PORTAL}/api/auth/`.length));
  return new URL(response.headers.get("location") ?? "", PORTAL);
}

/** Signs in as this person; resolves to the final URL of the browser. */
async function signIn(browser: PortalBrowser, person: ProviderPerson): Promise<URL> {
  return comeBack(browser, await provider.visit(await leave(browser), person));
}

/** Sets the password by email; resolves with what the reset page offers to take back. */
async function setPassword(email: string, choices: object) {
  const browser = portalBrowser();
  const token = await tokenMailedBy(t.capturedMails, email, () => browser.send("POST /forgot", { body: { email } }));
  const offered = await accessBehindReset(t.users, token);
  expect((await browser.send("POST /reset", { body: { token, password: PASSWORD, ...choices } })).status).toBe(200);
  return offered;
}

const userOf = (email: string) => t.db.prisma.user.findUnique({ where: { email }, include: { identities: true } });
const status = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status;

describe("signing in with a provider", () => {
  test("a sign-in with a provider creates a verified user without a password, and finds it again by the provider's id", async () => {
    const person = { sub: "ada", email: "ada@example.com", email_verified: true, name: "Ada" };
    const browser = portalBrowser();
    expect((await signIn(browser, person)).pathname).toBe("/dashboard");
    expect(await status(browser)).toBe(200);
    const user = await userOf("ada@example.com");
    expect(user).toMatchObject({ name: "Ada", passwordHash: null, emailVerifiedAt: expect.any(Date) });
    const elsewhere = portalBrowser();
    await signIn(elsewhere, { ...person, email: "moved@example.com" });
    expect(await status(elsewhere)).toBe(200);
    expect(await userOf("moved@example.com")).toBeNull();
    expect(await t.db.prisma.portalSession.count({ where: { userId: user?.id ?? "" } })).toBe(2);
  });

  test("a sign-in with an address that the provider has not verified is refused", async () => {
    for (const email_verified of [false, undefined]) {
      const browser = portalBrowser();
      const person = {
        sub: `eve ${email_verified}`,
        email: "eve@example.com",
        ...(email_verified === false && { email_verified }),
      };
      const end = await signIn(browser, person);
      expect(end.pathname + end.search).toBe("/signin?error=email_not_verified");
      expect(await status(browser)).toBe(401);
    }
    expect(await userOf("eve@example.com")).toBeNull();
  });

  test("a sign-in with a provider links to the user who verified the same address, and keeps the password", async () => {
    const email = "grace@example.com";
    const browser = portalBrowser();
    await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
    await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
    await signIn(browser, { sub: "grace", email, email_verified: true });
    expect((await userOf(email))?.identities).toMatchObject([{ provider: "oidc", subject: "grace" }]);
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
  });

  test("a sign-in with a provider takes over an address that was never verified, and its password stops working", async () => {
    const email = "alan@example.com";
    const squatter = portalBrowser();
    await squatter.send("POST /sign-up", { body: { email, password: PASSWORD } });
    const token = mailedToken(t.capturedMails, email);
    await squatter.signIn(email, PASSWORD);
    const owner = portalBrowser();
    await signIn(owner, { sub: "alan", email, email_verified: true });
    expect([await status(owner), await status(squatter)]).toEqual([200, 401]);
    expect(await portalBrowser().signIn(email, PASSWORD)).toBe("CredentialsSignin");
    expect(await squatter.send("POST /verify", { body: { token } })).toMatchObject({ status: 400 });
  });

  test("two sign-ins of one person at the same time create one user", async () => {
    const person = { sub: "twin", email: "twin@example.com", email_verified: true };
    const browsers = [portalBrowser(), portalBrowser()];
    const backs: URL[] = [];
    for (const browser of browsers) backs.push(await provider.visit(await leave(browser), person));
    await Promise.all(browsers.map((browser, index) => comeBack(browser, backs[index] ?? new URL(PORTAL))));
    expect(await Promise.all(browsers.map(status))).toEqual([200, 200]);
    expect((await userOf(person.email))?.identities).toHaveLength(1);
  });

  test("the same subject at another issuer is another person", async () => {
    const person = { sub: "sam", email: "sam@example.com", email_verified: true };
    await signIn(portalBrowser(), person);
    await t.db.prisma.identity.updateMany({ where: { subject: "sam" }, data: { issuer: "https://former.example" } });
    await signIn(portalBrowser(), { ...person, email: "samantha@example.com" });
    expect((await userOf("samantha@example.com"))?.identities).toMatchObject([{ issuer: provider.issuer, subject: "sam" }]);
    expect((await userOf("sam@example.com"))?.identities).toMatchObject([{ issuer: "https://former.example" }]);
  });

  test("linked providers are listed, and unlinked by their owner only and never as the last way to sign in", async () => {
    const email = "lin@example.com";
    const [browser, stranger] = [portalBrowser(), portalBrowser()];
    await signIn(browser, { sub: "lin", email, email_verified: true });
    await signIn(stranger, { sub: "mal", email: "mal@example.com", email_verified: true });
    const { items } = (await browser.send("GET /identities")).body.data;
    expect(items).toMatchObject([{ provider: "oidc", issuer: provider.issuer }]);
    const drop = (from: PortalBrowser, id: string) => from.send("DELETE /identities/[id]", { params: { id } });
    for (const refused of [await drop(stranger, items[0].id), await drop(browser, "rubbish")])
      expect(refused).toMatchObject({ status: 404 });
    expect(await drop(browser, items[0].id)).toMatchObject(failed("invalid_parameter", { parameter: "id" }));
    await setPassword(email, {});
    await browser.signIn(email, PASSWORD);
    expect((await drop(browser, items[0].id)).status).toBe(200);
    expect((await userOf(email))?.identities).toEqual([]);
    const { accountId } = (await userOf(email)) ?? { accountId: "" };
    const where = { accountId, action: "account.unlink_provider" };
    expect(await t.db.prisma.auditEntry.count({ where })).toBe(1);
  });

  test("a password reset lists the linked providers, and unlinks them on request", async () => {
    const email = "rea@example.com";
    await signIn(portalBrowser(), { sub: "rea", email, email_verified: true });
    expect(await setPassword(email, {})).toMatchObject({ providers: [{ provider: "oidc" }] });
    expect((await userOf(email))?.identities).toHaveLength(1);
    await t.clock.advance(60_000);
    await setPassword(email, { unlink_providers: true });
    expect((await userOf(email))?.identities).toEqual([]);
  });

  test("a sign-in with a provider still needs the second step, and the code opens the page that was asked for", async () => {
    const [email, browser] = ["two@example.com", portalBrowser()];
    const person = { sub: "two", email, email_verified: true };
    await signIn(browser, person);
    const { secret } = (await browser.send("POST /second-factors/app")).body.data;
    const code = () => new TOTP({ secret }).generate({ timestamp: t.clock.now() });
    expect((await browser.send("PUT /second-factors/app", { body: { code: code() } })).status).toBe(200);
    await t.clock.advance(TOTP_PERIOD_S * SECOND_MS);
    const again = portalBrowser();
    const end = await signIn(again, person);
    expect(end.pathname + end.search).toBe("/signin?error=second_factor&next=%2Fdashboard");
    expect(await status(again)).toBe(401);
    expect(await again.signInBy("code", "000000")).toBe("wrong_code");
    expect(await again.signInBy("code", code())).toBeNull();
    expect(await status(again)).toBe(200);
  });

  test("the time of the authentication at a provider is what counts as proof, not that of the way back", async () => {
    const clock = manualClock(Date.now());
    const running = portal();
    setPortal({ ...running, clock, users: { ...running.users, clock } });
    try {
      const person = { sub: "una", email: "una@example.com", email_verified: true };
      const provedBy = async (ageMs: number) => {
        const browser = portalBrowser();
        await comeBack(browser, await provider.visit(await leave(browser), person, clock.now() - ageMs));
        return [await status(browser), (await browser.send("POST /second-factors/recovery-codes")).body.message];
      };
      expect(await provedBy(PROOF_LIFETIME_S * SECOND_MS + SECOND_MS)).toEqual([200, "proof_required"]);
      // Past the proof, the call fails because this user has no second factor.
      expect(await provedBy(0)).toEqual([200, "invalid_parameter"]);
    } finally {
      setPortal(running);
    }
  });

  test("the answer of a provider is accepted only from the browser that started the sign-in", async () => {
    const victim = portalBrowser();
    const attacker = portalBrowser();
    const back = await provider.visit(await leave(attacker), { sub: "mallory", email: "m@example.com", email_verified: true });
    await leave(victim);
    expect((await comeBack(victim, back)).searchParams.get("error")).toBe("OAuthCallback");
    expect(await status(victim)).toBe(401);
  });

  test("a sign-in with a provider uses PKCE, a state and a nonce, and the portal's own redirect URI", async () => {
    const asked = new URL(await leave(portalBrowser())).searchParams;
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("redirect_uri")).toBe(`${PORTAL}/api/auth/callback/oidc`);
    expect(asked.get("max_age")).toBe(String(PORTAL_SESSION_LIMITS_S.user.longest));
    for (const name of ["state", "nonce", "code_challenge"]) expect(asked.get(name)).toMatch(/^[\w.-]{20,}$/);
  });
});

test("an OpenID provider that does not say when a user authenticated proves nothing, and no time lies ahead", () => {
  expect(provedAtMsOf("oidc", { sub: "a", auth_time: 500 }, 1_000_000)).toBe(500_000);
  expect(provedAtMsOf("oidc", { sub: "a", auth_time: 5_000 }, 1_000_000)).toBe(1_000_000);
  expect(provedAtMsOf("oidc", { sub: "a" }, 1_000_000)).toBe(0);
  // These cannot say it.
  for (const provider of ["github", "google"]) expect(provedAtMsOf(provider, { sub: "a" }, 1_000_000)).toBe(1_000_000);
});

test("only completely configured providers are offered", () => {
  expect(signInChoices(t.env)).toEqual([]);
  const env = { ...t.env, GITHUB_ID: "a", GITHUB_SECRET: "b", GOOGLE_ID: "c", OIDC_CLIENT_ID: "d", OIDC_CLIENT_SECRET: "e" };
  expect(signInChoices(env)).toEqual([{ id: "github", name: "GitHub" }]);
  expect(signInChoices({ ...env, GOOGLE_SECRET: "f", OIDC_ISSUER: "https://id.example", OIDC_NAME: "Acme" })).toEqual([
    { id: "github", name: "GitHub" },
    { id: "google", name: "Google" },
    { id: "oidc", name: "Acme" },
  ]);
});

test("GitHub sign-in uses a verified address, the primary one if possible", () => {
  const address = (email: string, verified: boolean, primary = false) => ({ email, verified, primary });
  expect(verifiedGithubEmail([address("a@x", false, true), address("b@x", true), address("c@x", true)])).toBe("b@x");
  expect(verifiedGithubEmail([address("b@x", true), address("c@x", true, true)])).toBe("c@x");
  expect(verifiedGithubEmail([address("a@x", false, true)])).toBeUndefined();
  expect(verifiedGithubEmail({ message: "Bad credentials" })).toBeUndefined();
});
