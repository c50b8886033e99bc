import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PORTAL_SESSION_LIMITS_S, RESET_LINK_LIFETIME_S, VERIFY_LINK_LIFETIME_S } from "#lib/contract/portal";
import { createKey } from "#server/store/access/keys";
import { requestReset } from "#server/store/users/password";
import { startSession } from "#server/store/users/sessions";
import { mailedToken, type PortalBrowser, portalBrowser, tokenMailedBy } from "#server/testing/portal-browser";
import { failed, freshAddress, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";
const OTHER = "another long password";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const newEmail = () => `person${++people}@example.com`;
const subjects = (to: string) => t.capturedMails.list().flatMap((mail) => (mail.to === to ? [mail.subject] : []));
const userOf = (email: string) => t.db.prisma.user.findUnique({ where: { email } });
const signedIn = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status === 200;

/** Signs up a new user, verifies the email address, and signs in. */
async function member(email = newEmail()): Promise<{ email: string; browser: PortalBrowser }> {
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
  return { email, browser };
}

describe("signing up", () => {
  test("sign-up creates a user with an account, unverified until the link in the mail is opened", async () => {
    const email = newEmail();
    const browser = portalBrowser();
    const answer = await browser.send("POST /sign-up", {
      body: { email: ` ${email.toUpperCase()} `, password: PASSWORD, name: "Ada" },
    });
    expect(answer).toMatchObject({ status: 200, body: { code: 0, data: {} } });
    expect(await userOf(email)).toMatchObject({ name: "Ada", emailVerifiedAt: null, operator: false });
    const verified = await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
    expect(verified.body.data).toEqual({ email, waiting_for: null, entry: "ready" });
    expect((await userOf(email))?.emailVerifiedAt).not.toBeNull();
  });

  test("the password is stored as argon2id only, and the link as its SHA-256", async () => {
    const { email } = await member();
    const { passwordHash } = (await userOf(email)) ?? {};
    expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const stored = JSON.stringify(await t.db.prisma.oneTimeToken.findMany());
    expect(stored).not.toContain(mailedToken(t.capturedMails, email));
  });

  test("sign-up answers the same whether or not the address is taken, and the mail says which", async () => {
    const { email } = await member();
    await t.clock.advance(60_000);
    const taken = await portalBrowser().send("POST /sign-up", { body: { email, password: OTHER } });
    const free = await portalBrowser().send("POST /sign-up", { body: { email: newEmail(), password: OTHER } });
    expect(taken.text).toBe(free.text);
    expect(subjects(email)[0]).toBe("You already have an account");
    expect(await portalBrowser().signIn(email, OTHER)).toBe("CredentialsSignin");
  });

  test("a new sign-up takes over an address that was never verified", async () => {
    const email = newEmail();
    const squatter = portalBrowser();
    await squatter.send("POST /sign-up", { body: { email, password: OTHER } });
    await squatter.signIn(email, OTHER);
    await portalBrowser()
      .send("POST /sign-up", { body: { email, password: PASSWORD } })
      .then(() => t.clock.advance(60_000));
    expect(await portalBrowser().send("POST /sign-up", { body: { email, password: PASSWORD } })).toMatchObject({ status: 200 });
    expect(await signedIn(squatter)).toBe(false);
    expect(await portalBrowser().signIn(email, OTHER)).toBe("CredentialsSignin");
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
  });

  test("sign-up refuses invalid and unknown fields and names the field", async () => {
    const browser = portalBrowser();
    const body = { email: newEmail(), password: PASSWORD };
    for (const field of ["operator", "accountId", "emailVerifiedAt", "plan"])
      expect(await browser.send("POST /sign-up", { body: { ...body, [field]: true } })).toMatchObject(
        failed("invalid_parameter", { parameter: field }),
      );
    expect(await browser.send("POST /sign-up", { body: { ...body, password: "short" } })).toMatchObject(
      failed("invalid_parameter", { parameter: "password", detail: "Use at least 12 characters." }),
    );
    expect(await browser.send("POST /sign-up", { body: { email: body.email } })).toMatchObject(
      failed("missing_parameter", { parameter: "password" }),
    );
    expect(await userOf(body.email)).toBeNull();
  });

  test("the verification mail is sent again, but only to an address that waits for it", async () => {
    const email = newEmail();
    const browser = portalBrowser();
    await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
    const first = mailedToken(t.capturedMails, email);
    const again = await browser.send("POST /resend", { body: { email } });
    await vi.waitFor(() => expect(mailedToken(t.capturedMails, email)).not.toBe(first));
    const unknown = await browser.send("POST /resend", { body: { email: newEmail() } });
    expect(again.text).toBe(unknown.text);
    expect(await browser.send("POST /verify", { body: { token: first } })).toMatchObject({ status: 400 });
    expect(await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } })).toMatchObject({
      status: 200,
    });
  });

  test("mails to one address are limited", async () => {
    const email = newEmail();
    const send = () => portalBrowser().send("POST /forgot", { body: { email } });
    expect((await send()).status).toBe(200);
    expect(await send()).toMatchObject({ status: 429, ...failed("rate_limited", { retry_after: expect.any(Number) }) });
  });
});

describe("a link of a mail", () => {
  test("a link in a mail works once", async () => {
    const email = newEmail();
    const browser = portalBrowser();
    await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
    const body = { token: mailedToken(t.capturedMails, email) };
    const both = await Promise.all([browser.send("POST /verify", { body }), browser.send("POST /verify", { body })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await browser.send("POST /verify", { body })).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
  });

  test("a verification link expires after a day, a reset link after an hour", async () => {
    const email = newEmail();
    const browser = portalBrowser();
    await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
    const verifying = mailedToken(t.capturedMails, email);
    await t.clock.advance(VERIFY_LINK_LIFETIME_S * 1000);
    expect((await browser.send("POST /verify", { body: { token: verifying } })).status).toBe(400);
    const resetting = await tokenMailedBy(t.capturedMails, email, () => browser.send("POST /forgot", { body: { email } }));
    await t.clock.advance(RESET_LINK_LIFETIME_S * 1000);
    expect((await browser.send("POST /reset", { body: { token: resetting, password: OTHER } })).status).toBe(400);
  });

  test("a link in a mail works for its own purpose only", async () => {
    const email = newEmail();
    const browser = portalBrowser();
    await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
    const body = { token: mailedToken(t.capturedMails, email), password: OTHER };
    expect((await browser.send("POST /reset", { body })).status).toBe(400);
  });
});

describe("a forgotten password", () => {
  test("asking for a new password is answered before anything is written, so its time does not reveal an account", async () => {
    const { email } = await member();
    const unsent = mailedToken(t.capturedMails, email);
    const queued: unknown[] = [];
    const context = { ...t.users, send: (mail: unknown) => void queued.push(mail) };
    const visitor = { address: freshAddress(), userAgent: "", base: "" };
    const tokens = () => t.db.prisma.oneTimeToken.count({ where: { email, purpose: "reset" } });
    await requestReset(context, email, visitor);
    expect([queued.length, await tokens()]).toEqual([1, 0]);
    await (queued[0] as () => Promise<unknown>)();
    expect([await tokens(), mailedToken(t.capturedMails, email)]).toEqual([1, unsent]);
  });

  test("resetting a password signs out every browser", async () => {
    const { email, browser } = await member();
    const stranger = portalBrowser();
    const before = mailedToken(t.capturedMails, email);
    const known = await stranger.send("POST /forgot", { body: { email } });
    await vi.waitFor(() => expect(mailedToken(t.capturedMails, email)).not.toBe(before));
    const unknown = await stranger.send("POST /forgot", { body: { email: newEmail() } });
    expect(known.text).toBe(unknown.text);
    const body = { token: mailedToken(t.capturedMails, email), password: OTHER };
    expect((await stranger.send("POST /reset", { body })).status).toBe(200);
    expect(await signedIn(browser)).toBe(false);
    expect(await stranger.signIn(email, PASSWORD)).toBe("CredentialsSignin");
    expect(await stranger.signIn(email, OTHER)).toBeNull();
  });
});

describe("sessions", () => {
  test("sessions are listed and revoked one by one, and only one's own", async () => {
    const { email, browser } = await member();
    const second = portalBrowser();
    await second.signIn(email, PASSWORD);
    const { items } = (await browser.send("GET /sessions")).body.data;
    expect(items).toHaveLength(2);
    const other = items.find(({ current }: { current: boolean }) => !current);
    expect(other).toMatchObject({ user_agent: "test browser", address: expect.stringMatching(/^10\.\d+\.\d+\.0\/24$/) });
    const stranger = await member();
    for (const id of [other.id, "rubbish"])
      expect(await stranger.browser.send("DELETE /sessions/[id]", { params: { id } })).toMatchObject({ status: 404 });
    expect(await signedIn(second)).toBe(true);
    expect((await browser.send("DELETE /sessions/[id]", { params: { id: other.id } })).status).toBe(200);
    expect(await signedIn(second)).toBe(false);
    expect(await signedIn(browser)).toBe(true);
  });

  test("a user has at most fifty sessions: one more ends the one that was unused the longest", async () => {
    const { email, browser } = await member();
    const userId = (await userOf(email))?.id ?? "";
    for (let other = 0; other < 50; other += 1) {
      t.clock.set(t.clock.now() + 1);
      await startSession(t.users, userId, { address: "10.0.0.1", userAgent: "", base: "" }, { method: "password" });
    }
    expect(await t.db.prisma.portalSession.count({ where: { userId } })).toBe(50);
    expect(await signedIn(browser)).toBe(false);
  });

  test("all sessions of a user can be ended at once", async () => {
    const { email, browser } = await member();
    const second = portalBrowser();
    await second.signIn(email, PASSWORD);
    expect((await browser.send("DELETE /sessions")).status).toBe(200);
    expect([await signedIn(browser), await signedIn(second)]).toEqual([false, false]);
  });

  test.each(["user", "operator"] as const)("a session of one %s ends without use, and after its maximum age", async (role) => {
    const later = (seconds: number) => t.clock.set(t.clock.now() + seconds * 1000);
    const { idle, longest } = PORTAL_SESSION_LIMITS_S[role];
    const signedInAs = async () => {
      const { email, browser } = await member();
      await t.db.prisma.user.update({ where: { email }, data: { operator: role === "operator" } });
      return browser;
    };
    const idler = await signedInAs();
    later(idle);
    expect(await signedIn(idler)).toBe(false);
    const busy = await signedInAs();
    const step = idle / 2;
    for (let age = step; age < longest; age += step) {
      later(step);
      expect(await signedIn(busy)).toBe(true);
    }
    later(step);
    expect(await signedIn(busy)).toBe(false);
  });
});

describe("a signed-in user", () => {
  test("changing the password requires the old one, signs out other browsers and notifies the owner", async () => {
    const { email, browser } = await member();
    const second = portalBrowser();
    await second.signIn(email, PASSWORD);
    expect(await browser.send("POST /password", { body: { current: OTHER, password: OTHER } })).toMatchObject(
      failed("invalid_parameter", { parameter: "current" }),
    );
    expect((await browser.send("POST /password", { body: { current: PASSWORD, password: OTHER } })).status).toBe(200);
    expect([await signedIn(browser), await signedIn(second)]).toEqual([true, false]);
    expect(subjects(email)[0]).toBe("Your password was changed");
    expect(await portalBrowser().signIn(email, OTHER)).toBeNull();
  });

  test("changing the address requires a fresh proof and the links sent to both addresses", async () => {
    const { email, browser } = await member();
    const next = newEmail();
    expect((await browser.send("POST /email", { body: { email: next } })).status).toBe(200);
    expect(await userOf(next)).toBeNull();
    const confirmed = await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, next) } });
    expect(confirmed.body.data).toEqual({ email, waiting_for: "old_address", entry: "none" });
    const approved = await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
    expect(approved.body.data).toEqual({ email: next, waiting_for: null, entry: "none" });
    expect(subjects(email)[0]).toBe("Your email address was changed");
    expect(await portalBrowser().signIn(email, PASSWORD)).toBe("CredentialsSignin");
    expect(await portalBrowser().signIn(next, PASSWORD)).toBeNull();
  });

  test("changing the address does not reveal whether another user has an account", async () => {
    const { browser } = await member();
    const { email: taken } = await member();
    const ask = (email: string) => browser.send("POST /email", { body: { email } });
    expect((await ask(taken)).text).toBe((await ask(newEmail())).text);
    expect(subjects(taken)[0]).toBe("You already have an account");
  });

  test("deleting an account with its keys requires its address", async () => {
    const { email, browser } = await member();
    const { accountId = "" } = (await userOf(email)) ?? {};
    const settings = { accountId, name: "doomed", venue: "sandbox", scopes: ["market:read"], origins: [], expiresAt: null };
    const { text } = await createKey(t.keyContext, settings);
    const instruments = () => t.ask("/api/v1/market/instruments", { key: text });
    expect((await instruments()).status).toBe(200);
    const drop = (body: object) => browser.send("DELETE /account", { body });
    expect(await drop({ confirm: "no@example.com" })).toMatchObject(failed("invalid_parameter", { parameter: "confirm" }));
    expect((await drop({ confirm: email })).status).toBe(200);
    await t.settle();
    expect((await instruments()).status).toBe(401);
    expect(await userOf(email)).toBeNull();
    expect(await signedIn(browser)).toBe(false);
  });

  test("account changes are audited without secrets", async () => {
    const { email, browser } = await member();
    await browser.send("PATCH /profile", { body: { name: "Grace" } });
    await browser.send("POST /password", { body: { current: PASSWORD, password: OTHER } });
    const { accountId = "" } = (await userOf(email)) ?? {};
    const trail = await t.db.prisma.auditEntry.findMany({ where: { accountId }, orderBy: { id: "asc" } });
    const actions = ["account.sign_up", "account.verify_email", "access.sign_in", "account.profile", "account.password"];
    expect(trail.map(({ action }) => action)).toEqual(actions);
    expect(trail.every(({ actor, address }) => actor === email && address === browser.address)).toBe(true);
    expect(JSON.stringify(trail)).not.toMatch(/correct horse|another long|argon2/);
  });
});
