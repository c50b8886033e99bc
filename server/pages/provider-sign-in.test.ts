import { randomUUID } from "node:crypto";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import { MEMBERS_MAX_COUNT } from "#lib/contract/organisation";
import { PORTAL_SESSION_LIMITS_S } from "#lib/contract/portal";
import { PROOF_LIFETIME_S, TOTP_PERIOD_S } from "#lib/contract/second-factor";
import { type OpenIdProvider, type ProviderPerson, startOpenIdProvider } from "#lib/testing/openid-provider";
import { SECOND_MS } from "#lib/units";
import { provedAtMsOf, signInChoices, verifiedGithubEmail } from "#server/pages/sign-in/providers";
import { accessBehindReset } from "#server/store/users/password";
import {
  mailedToken,
  PORTAL,
  type PortalBrowser,
  portalBrowser,
  signedInBrowser,
  tokenMailedBy,
} from "#server/testing/portal-browser";
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

  test("a sign-in with a provider that takes over an address accepts the terms of that day", async () => {
    const running = portal();
    const rules = (TERMS_VERSION: string) => {
      const terms = { TERMS_URL: "https://example.com/terms", TERMS_VERSION };
      setPortal({ ...running, users: { ...running.users, rules: { ...running.users.rules, ...terms } } });
    };
    try {
      const email = "tess@example.com";
      rules("2026-11");
      await portalBrowser().send("POST /sign-up", { body: { email, password: PASSWORD, terms: true } });
      await t.clock.advance(SECOND_MS);
      rules("2026-12");
      await signIn(portalBrowser(), { sub: "tess", email, email_verified: true });
      expect(await userOf(email)).toMatchObject({ termsVersion: "2026-12", termsAt: new Date(t.clock.now()) });
      // Who has an account has accepted them at the sign-up.
      rules("2027-01");
      await signIn(portalBrowser(), { sub: "tess", email, email_verified: true });
      expect(await userOf(email)).toMatchObject({ termsVersion: "2026-12" });
    } finally {
      setPortal(running);
    }
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

describe("the sign-in domain of an organisation", () => {
  let domains = 0;

  /** An organisation with a domain, an operator who changes it, and people at that domain. */
  async function withDomain() {
    const domain = `acme${++domains}.example`;
    const { accountId, browser: owner } = await signedInBrowser(t, domain);
    const { browser: operator, accountId: operators } = await signedInBrowser(t, `operators of ${domain}`);
    const data = { operator: true, totpSince: new Date(t.clock.now()) };
    await t.db.prisma.user.updateMany({ where: { accountId: operators }, data });
    const change = async (body: object) => {
      const { revision } = await t.db.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
      return operator.send("PATCH /admin/accounts/[id]", { params: { id: accountId }, body: { ...body, revision } });
    };
    expect((await change({ sign_in_domain: domain })).status).toBe(200);
    const personAt = (name: string) => {
      const email = `${name}@${domain}`;
      return { sub: email, email, email_verified: true };
    };
    const organisations = async (email: string) => {
      const where = { user: { email } };
      const rows = await t.db.prisma.membership.findMany({ where, include: { account: true }, orderBy: { createdAt: "asc" } });
      return rows.map(({ account, role }) => [account.name, role]);
    };
    return { domain, accountId, owner, change, personAt, organisations };
  }

  /** Somebody who signed up with a password and has a key in an organisation of their own. */
  async function withKey(email: string): Promise<PortalBrowser> {
    const browser = portalBrowser();
    await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
    await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
    expect(await browser.signIn(email, PASSWORD)).toBeNull();
    const key = { name: "k", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
    expect((await browser.send("POST /keys", { body: key })).status).toBe(200);
    return browser;
  }

  test("makes whom a provider vouches for at it a reader, and nobody else", async () => {
    const { domain, personAt, organisations } = await withDomain();
    const ada = personAt("ada");
    await signIn(portalBrowser(), ada);
    expect(await organisations(ada.email)).toEqual([[domain, "reader"]]);
    const eve = personAt("eve");
    await signIn(portalBrowser(), { ...eve, email_verified: false });
    expect(await userOf(eve.email)).toBeNull();
    for (const email of [`sub@other.${domain}`, `not@not${domain}`]) {
      await signIn(portalBrowser(), { sub: email, email, email_verified: true });
      expect(await organisations(email)).toEqual([[email, "owner"]]);
    }
  });

  test("makes somebody who has an account a reader beside that, from the sign-in with the provider on", async () => {
    const { domain, personAt, organisations, change } = await withDomain();
    const grace = personAt("grace");
    await withKey(grace.email);
    expect(await organisations(grace.email)).toEqual([[grace.email, "owner"]]);
    const browser = portalBrowser();
    await signIn(browser, grace);
    const both = [
      [grace.email, "owner"],
      [domain, "reader"],
    ];
    expect(await organisations(grace.email)).toEqual(both);
    expect((await browser.send("GET /organisation")).body.data.name).toBe(domain);

    // Linked before the organisation had the domain; an address of the provider that is not the user's says nothing.
    await change({ sign_in_domain: null });
    const [lin, moved] = [personAt("lin"), personAt("moved")];
    await signIn(portalBrowser(), lin);
    await signIn(portalBrowser(), { ...moved, email: "moved@elsewhere.example" });
    await change({ sign_in_domain: domain });
    await signIn(portalBrowser(), lin);
    await signIn(portalBrowser(), moved);
    // Their own had nothing in it.
    expect(await organisations(lin.email)).toEqual([[domain, "reader"]]);
    expect(await organisations("moved@elsewhere.example")).toEqual([["moved@elsewhere.example", "owner"]]);
  });

  test("leaves a member the role, and takes nobody back who left or was removed, not even with a new account", async () => {
    const { domain, owner, personAt, organisations } = await withDomain();
    const [kim, lou] = [personAt("kim"), personAt("lou")];
    const [kims, lous] = [portalBrowser(), portalBrowser()];
    await signIn(kims, kim);
    await signIn(lous, lou);
    const { id } = (await userOf(kim.email)) ?? { id: "" };
    await owner.send("PATCH /organisation/members/[id]", { params: { id }, body: { role: "developer" } });
    await signIn(portalBrowser(), kim);
    expect(await organisations(kim.email)).toEqual([[domain, "developer"]]);

    await owner.send("DELETE /organisation/members/[id]", { params: { id }, body: { revoke_keys: false } });
    expect((await lous.send("POST /organisation/leave")).status).toBe(200);
    for (const person of [kim, lou]) {
      await signIn(portalBrowser(), person);
      expect(await organisations(person.email)).toEqual([[person.email, "owner"]]);
    }
    expect((await kims.send("DELETE /account", { body: { confirm: kim.email } })).status).toBe(200);
    await signIn(portalBrowser(), kim);
    expect(await organisations(kim.email)).toEqual([[kim.email, "owner"]]);
  });

  test("adds nobody to an organisation that is suspended, waits for approval or is full", async () => {
    const { accountId, change, personAt, organisations } = await withDomain();
    const refused = async (name: string) => {
      const person = personAt(name);
      // As a new user, and as one who is known.
      for (let count = 0; count < 2; count += 1) {
        await signIn(portalBrowser(), person);
        expect(await organisations(person.email)).toEqual([[person.email, "owner"]]);
      }
    };
    await change({ suspended: true });
    await refused("suspended");
    await change({ suspended: false });
    await t.db.prisma.account.update({ where: { id: accountId }, data: { waitingSince: new Date(t.clock.now()) } });
    await refused("waiting");
    await t.db.prisma.account.update({ where: { id: accountId }, data: { waitingSince: null } });
    const users = Array.from({ length: MEMBERS_MAX_COUNT - 1 }, (_, index) => {
      return { id: randomUUID(), accountId, email: `many${index}@full.example` };
    });
    await t.db.prisma.user.createMany({ data: users });
    await t.db.prisma.membership.createMany({ data: users.map(({ id }) => ({ accountId, userId: id, role: "reader" })) });
    await refused("full");
  });

  test("is none at which anyone gets an address, and none of another organisation", async () => {
    const [one, other] = [await withDomain(), await withDomain()];
    for (const sign_in_domain of ["gmail.com", "Outlook.com", one.domain])
      expect(await other.change({ sign_in_domain })).toMatchObject({
        status: 400,
        ...failed("invalid_parameter", { parameter: "sign_in_domain" }),
      });
    const { message, data } = (await other.change({ sign_in_domain: "gmail.com" })).body;
    expect([message, data.detail]).toEqual([
      "invalid_parameter",
      "Anyone can get an email address at gmail.com. Enter a domain whose emails all belong to this customer.",
    ]);
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
