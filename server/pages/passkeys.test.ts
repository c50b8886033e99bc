import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PASSKEY_CHALLENGE_LIFETIME_S, PASSKEYS_MAX_COUNT, PROOF_LIFETIME_S } from "#lib/contract/second-factor";
import { type Authenticator, createAuthenticator } from "#lib/testing/authenticator";
import { SECOND_MS } from "#lib/units";
import { mailedToken, PORTAL, type PortalBrowser, portalBrowser } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const isIn = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status === 200;
const factors = async (browser: PortalBrowser) => (await browser.send("GET /second-factors")).body.data;
const challenge = async (browser: PortalBrowser): Promise<string> =>
  (await browser.send("POST /passkeys/challenge")).body.data.challenge;

async function member(): Promise<{ email: string; browser: PortalBrowser }> {
  const email = `passkey${++people}@example.com`;
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
  return { email, browser };
}

/** Adds a passkey; resolves with the answer. */
async function add(browser: PortalBrowser, authenticator: Authenticator, name = "Laptop", at: object = {}) {
  const options = (await browser.send("POST /passkeys/creation")).body.data;
  const userId = Buffer.from(options.user.id, "base64url").toString();
  const passkey = authenticator.make({ challenge: options.challenge, origin: PORTAL, userId, ...at });
  return browser.send("POST /passkeys", { body: { name, passkey } });
}

/** A member with a passkey. */
async function holder() {
  const { email, browser } = await member();
  const authenticator = createAuthenticator();
  const { recovery_codes } = (await add(browser, authenticator)).body.data;
  expect(recovery_codes).toHaveLength(10);
  return { email, browser, authenticator, codes: recovery_codes as string[] };
}

/** Signs in with a passkey; resolves to the error. */
async function signIn(browser: PortalBrowser, authenticator: Authenticator, at: object = {}): Promise<string | null> {
  const used = authenticator.use({ challenge: await challenge(browser), origin: PORTAL, ...at });
  return browser.signInBy("passkey", JSON.stringify(used));
}

describe("a passkey", () => {
  test("a passkey signs in without a password, is listed with its last use, and can be removed", async () => {
    const { email, browser, authenticator } = await holder();
    expect(await factors(browser)).toMatchObject({ passkeys: [{ name: "Laptop", last_used_at: null }] });
    const other = portalBrowser();
    expect(await signIn(other, authenticator)).toBeNull();
    const { passkeys } = await factors(other);
    expect(passkeys).toMatchObject([{ last_used_at: new Date(t.clock.now()).toISOString() }]);
    const remove = () => other.send("DELETE /passkeys/[id]", { params: { id: passkeys[0].id } });
    expect(await (await member()).browser.send("DELETE /passkeys/[id]", { params: { id: passkeys[0].id } })).toMatchObject({
      status: 404,
    });
    expect((await remove()).status).toBe(200);
    expect((await remove()).status).toBe(404);
    expect(await signIn(portalBrowser(), authenticator)).toBe("wrong_passkey");
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
    const { accountId = "" } = (await t.db.prisma.user.findUnique({ where: { email } })) ?? {};
    const trail = await t.db.prisma.auditEntry.findMany({ where: { accountId, target: "Laptop" }, orderBy: { id: "asc" } });
    expect(trail.map(({ action }) => action)).toEqual(["passkey.add", "passkey.remove"]);
  });

  test("with a passkey the password alone opens nothing; the passkey or a recovery code goes on", async () => {
    const { email, authenticator, codes } = await holder();
    const browser = portalBrowser();
    expect(await browser.signIn(email, PASSWORD)).toBe("second_factor");
    expect(await isIn(browser)).toBe(false);
    expect(await browser.signInBy("code", "123456")).toBe("wrong_code");
    expect(await signIn(browser, authenticator)).toBeNull();
    await browser.signIn(email, PASSWORD);
    expect(await browser.signInBy("code", codes[0] ?? "")).toBeNull();
  });

  test("a challenge works once, in the browser that asked for it, and for five minutes", async () => {
    const { authenticator } = await holder();
    const browser = portalBrowser();
    const used = JSON.stringify(authenticator.use({ challenge: await challenge(browser), origin: PORTAL }));
    const cookie = browser.cookies.get("spotwire.challenge") ?? "";
    expect(await portalBrowser().signInBy("passkey", used)).toBe("wrong_passkey");
    const elsewhere = portalBrowser();
    await challenge(elsewhere);
    expect(await elsewhere.signInBy("passkey", used)).toBe("wrong_passkey");
    expect(await browser.signInBy("passkey", used)).toBeNull();
    browser.cookies.set("spotwire.challenge", cookie);
    expect(await browser.signInBy("passkey", used)).toBe("wrong_passkey");
    const late = portalBrowser();
    const again = JSON.stringify(authenticator.use({ challenge: await challenge(late), origin: PORTAL }));
    await t.clock.advance(PASSKEY_CHALLENGE_LIFETIME_S * SECOND_MS);
    expect(await late.signInBy("passkey", again)).toBe("wrong_passkey");
    expect(await signIn(late, authenticator)).toBeNull();
    expect(await t.db.prisma.spentChallenge.count({ where: { expiresAt: { lt: new Date(t.clock.now()) } } })).toBe(0);
  });

  test.each([
    ["another origin", { origin: "http://evil.test" }],
    ["another scheme", { origin: "https://spotwire.test" }],
    ["a browser that verified nobody", { verified: false }],
    ["another challenge", { challenge: "bm90IG91cnM" }],
  ])("a passkey from %s neither signs in nor is added", async (_, at) => {
    const { browser, authenticator } = await holder();
    expect(await signIn(portalBrowser(), authenticator, at)).toBe("wrong_passkey");
    expect(await add(browser, createAuthenticator(), "Other", at)).toMatchObject(
      failed("invalid_parameter", { parameter: "passkey" }),
    );
    expect((await factors(browser)).passkeys).toHaveLength(1);
  });

  test("a passkey whose count of signatures falls back is a copy and is refused", async () => {
    const { authenticator } = await holder();
    expect(await signIn(portalBrowser(), authenticator, { counter: 7 })).toBeNull();
    expect(await signIn(portalBrowser(), authenticator, { counter: 7 })).toBe("wrong_passkey");
    expect(await signIn(portalBrowser(), authenticator, { counter: 8 })).toBeNull();
  });

  test.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["no passkey", "{}"],
    ["a list", "[1]"],
  ])("a sign-in with %s instead of a passkey is refused", async (_, given) => {
    expect(await portalBrowser().signInBy("passkey", given)).toBe("wrong_passkey");
  });

  test("an account has at most twenty passkeys, and none twice", async () => {
    const { email, browser, authenticator } = await holder();
    const { id: userId = "" } = (await t.db.prisma.user.findUnique({ where: { email } })) ?? {};
    expect(await add(browser, authenticator)).toMatchObject(failed("invalid_parameter", { parameter: "passkey" }));
    await t.db.prisma.passkey.createMany({
      data: Array.from({ length: PASSKEYS_MAX_COUNT - 2 }, () => ({
        userId,
        name: "old",
        credentialId: new Uint8Array(Buffer.from(randomUUID())),
        publicKey: new Uint8Array(1),
        transports: [],
      })),
    });
    const both = await Promise.all([add(browser, createAuthenticator()), add(browser, createAuthenticator())]);
    // The second challenge replaced the first one's cookie, or the list was full: one is refused either way.
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await add(browser, createAuthenticator())).toMatchObject(failed("invalid_parameter", { max: PASSKEYS_MAX_COUNT }));
  });
});

describe("a fresh proof", () => {
  const LATER_MS = PROOF_LIFETIME_S * SECOND_MS;

  test("ten minutes after signing in, a change asks for the password or a passkey again, and then is made", async () => {
    const { browser, authenticator } = await holder();
    await t.clock.advance(LATER_MS - 1);
    expect((await browser.send("POST /second-factors/app")).status).toBe(200);
    await t.clock.advance(1);
    expect(await browser.send("POST /second-factors/app")).toMatchObject({ status: 403, ...failed("proof_required") });
    expect(await browser.send("POST /proof", { body: { current: "not the password" } })).toMatchObject(
      failed("invalid_parameter", { parameter: "current" }),
    );
    expect((await browser.send("POST /second-factors/app")).status).toBe(403);
    expect((await browser.send("POST /proof", { body: { current: PASSWORD } })).status).toBe(200);
    expect((await browser.send("POST /second-factors/app")).status).toBe(200);
    await t.clock.advance(LATER_MS);
    const used = authenticator.use({ challenge: await challenge(browser), origin: PORTAL });
    expect((await browser.send("POST /proof/passkey", { body: { passkey: used } })).status).toBe(200);
    expect((await browser.send("POST /second-factors/app")).status).toBe(200);
  });

  test("a proof counts for its own session, and only by a passkey of its own user", async () => {
    const { email, browser, codes } = await holder();
    const second = portalBrowser();
    await second.signIn(email, PASSWORD);
    await second.signInBy("code", codes[0] ?? "");
    const stranger = await holder();
    await t.clock.advance(LATER_MS);
    await second.send("POST /proof", { body: { current: PASSWORD } });
    expect([
      (await second.send("POST /second-factors/app")).status,
      (await browser.send("POST /second-factors/app")).status,
    ]).toEqual([200, 403]);
    const used = stranger.authenticator.use({ challenge: await challenge(browser), origin: PORTAL });
    expect(await browser.send("POST /proof/passkey", { body: { passkey: used } })).toMatchObject(failed("invalid_parameter"));
    expect((await browser.send("POST /second-factors/app")).status).toBe(403);
    expect((await portalBrowser().send("POST /proof", { body: { current: PASSWORD } })).status).toBe(401);
  });
});
