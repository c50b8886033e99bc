import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  RECOVERY_CODES_COUNT,
  SIGN_IN_STEP_LIFETIME_S,
  TOTP_PERIOD_S,
  WRONG_CODES_PER_DAY_COUNT,
} from "#lib/contract/second-factor";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { resetSecondFactors } from "#server/store/users/second-factor";
import { mailedToken, type PortalBrowser, portalBrowser } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";
const STEP_MS = TOTP_PERIOD_S * SECOND_MS;
const WRONG_CODE = "000000";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const isIn = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status === 200;
/** How many emails about second factors somebody got. */
const notices = (to: string) =>
  t.capturedMails.list().filter((mail) => mail.to === to && /^(Your sign-in settings|A recovery code)/.test(mail.subject)).length;

async function member(): Promise<{ email: string; browser: PortalBrowser }> {
  const email = `factor${++people}@example.com`;
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
  return { email, browser };
}

/** The code an app shows now, or some steps away. */
function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: t.clock.now() + steps * STEP_MS });
}

/** A member whose authenticator app is on, and whose clock is past the code that confirmed it. */
async function protectedMember() {
  const { email, browser } = await member();
  const { secret } = (await browser.send("POST /second-factors/app")).body.data;
  const confirmed = await browser.send("PUT /second-factors/app", { body: { code: codeOf(secret) } });
  expect(confirmed.status).toBe(200);
  await t.clock.advance(STEP_MS);
  return { email, browser, secret: secret as string, codes: confirmed.body.data.recovery_codes as string[] };
}

describe("an authenticator app", () => {
  test("an app counts once its code was confirmed, and ten recovery codes are shown with it", async () => {
    const { email, browser } = await member();
    const { secret, uri, qr } = (await browser.send("POST /second-factors/app")).body.data;
    expect(uri).toContain(`secret=${secret}`);
    expect(qr).toMatch(/^<svg .*<\/svg>$/s);
    expect(qr).not.toMatch(/href|url\(|<script/);
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
    expect(await browser.send("PUT /second-factors/app", { body: { code: WRONG_CODE } })).toMatchObject(
      failed("invalid_parameter", { parameter: "code" }),
    );
    const { recovery_codes } = (await browser.send("PUT /second-factors/app", { body: { code: codeOf(secret) } })).body.data;
    expect(new Set(recovery_codes).size).toBe(RECOVERY_CODES_COUNT);
    expect((await browser.send("GET /second-factors")).body.data).toMatchObject({
      totp_since: expect.any(String),
      recovery_codes: RECOVERY_CODES_COUNT,
    });
    expect(notices(email)).toBe(1);
    expect(await browser.send("POST /second-factors/app")).toMatchObject(failed("invalid_parameter"));
  });

  test("neither the secret nor a recovery code can be read from the database", async () => {
    const { email, secret, codes } = await protectedMember();
    const user = await t.db.prisma.user.findUniqueOrThrow({ where: { email }, include: { recoveryCodes: true } });
    const stored = JSON.stringify([user, Buffer.from(user.totpSecret ?? []).toString("latin1")]);
    for (const text of [secret, ...codes]) expect(stored).not.toContain(text);
    const other = await protectedMember();
    await t.db.prisma.user.update({ where: { email: other.email }, data: { totpSecret: user.totpSecret } });
    const thief = portalBrowser();
    await thief.signIn(other.email, PASSWORD);
    expect(await thief.signInBy("code", codeOf(secret))).toBe("wrong_code");
  });

  test("the password alone opens nothing, and a code that was used is not accepted again", async () => {
    const { email, secret } = await protectedMember();
    const browser = portalBrowser();
    expect(await browser.signIn(email, PASSWORD)).toBe("second_factor");
    expect(await isIn(browser)).toBe(false);
    expect(await browser.signInBy("code", WRONG_CODE)).toBe("wrong_code");
    expect(await browser.signInBy("code", codeOf(secret))).toBeNull();
    expect(await isIn(browser)).toBe(true);
    await browser.signIn(email, PASSWORD);
    for (const steps of [0, -1, 2]) expect(await browser.signInBy("code", codeOf(secret, steps))).toBe("wrong_code");
    expect(await browser.signInBy("code", codeOf(secret, 1))).toBeNull();
  });

  test("of two browsers that send the same code at once, one gets in", async () => {
    const { email, secret } = await protectedMember();
    const browsers = [portalBrowser(), portalBrowser()];
    for (const browser of browsers) await browser.signIn(email, PASSWORD);
    const ends = await Promise.all(browsers.map((browser) => browser.signInBy("code", codeOf(secret))));
    expect(ends.sort()).toEqual([null, "wrong_code"].sort());
  });

  test("a code without the password, too late after it, or after a change of it, opens nothing", async () => {
    const { email, browser, secret } = await protectedMember();
    expect(await portalBrowser().signInBy("code", codeOf(secret))).toBe("step_expired");
    const [late, old] = [portalBrowser(), portalBrowser()];
    await late.signIn(email, PASSWORD);
    await t.clock.advance(SIGN_IN_STEP_LIFETIME_S * SECOND_MS);
    expect(await late.signInBy("code", codeOf(secret))).toBe("step_expired");
    await old.signIn(email, PASSWORD);
    expect((await browser.send("POST /password", { body: { current: PASSWORD, password: "a much better one" } })).status).toBe(
      200,
    );
    expect(await old.signInBy("code", codeOf(secret))).toBe("wrong_code");
  });

  test("wrong codes are limited for all strangers together, but not for a browser that signed in before", async () => {
    const { email, browser, secret } = await protectedMember();
    const ends = new Set<string | null>();
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const guesser = portalBrowser();
      await guesser.signIn(email, PASSWORD);
      ends.add(await guesser.signInBy("code", WRONG_CODE));
    }
    expect([...ends]).toEqual(["wrong_code", "rate_limited"]);
    await browser.signIn(email, PASSWORD);
    expect(await browser.signInBy("code", codeOf(secret))).toBeNull();
    await browser.signIn(email, PASSWORD);
    for (let attempt = 0; attempt < 5; attempt += 1) await browser.signInBy("code", WRONG_CODE);
    expect(await browser.signInBy("code", codeOf(secret, 1))).toBe("rate_limited");
  });

  test("browsers that signed in before the app was added are strangers, and those after it have one count, with one email", async () => {
    const { email, browser } = await member();
    const earlier = Array.from({ length: 4 }, () => portalBrowser());
    for (const one of earlier) expect(await one.signIn(email, PASSWORD)).toBeNull();
    await t.clock.advance(4 * STEP_MS);
    const { secret } = (await browser.send("POST /second-factors/app")).body.data;
    expect((await browser.send("PUT /second-factors/app", { body: { code: codeOf(secret) } })).status).toBe(200);
    const wrong = async (from: PortalBrowser) => {
      await from.signIn(email, PASSWORD);
      return from.signInBy("code", WRONG_CODE);
    };
    const ends: (string | null)[] = [];
    for (let round = 0; round < 4; round += 1) for (const one of earlier) ends.push(await wrong(one));
    // All strangers together have three in a minute, and browsers that are known five.
    expect(ends.filter((end) => end === "wrong_code")).toHaveLength(3);

    const known = [browser, portalBrowser()] as const;
    await t.clock.advance(10 * STEP_MS);
    await known[1].signIn(email, PASSWORD);
    expect(await known[1].signInBy("code", codeOf(secret))).toBeNull();
    const together: (string | null)[] = [];
    for (let round = 0; round < 6; round += 1) for (const one of known) together.push(await wrong(one));
    expect(together.filter((end) => end === "wrong_code")).toHaveLength(5);
    const where = { user: { email }, browser: "known" };
    await t.db.prisma.codeAttempts.updateMany({ where, data: { count: WRONG_CODES_PER_DAY_COUNT } });
    await t.clock.advance(10 * STEP_MS);
    for (const one of known) expect(await wrong(one)).toBe("too_many_codes");
    expect(t.capturedMails.list().filter((mail) => mail.to === email && mail.subject.startsWith("Wrong codes"))).toHaveLength(1);
  });

  test("past 20 wrong codes in a day, codes are refused and the owner gets one email; all other ways stay open", async () => {
    const { email, browser, secret, codes } = await protectedMember();
    const enter = async (from: PortalBrowser, code: string, password = PASSWORD) => {
      // Past the limits of a minute.
      await t.clock.advance(2 * STEP_MS);
      await from.signIn(email, password);
      return from.signInBy("code", code);
    };
    const warnings = () => t.capturedMails.list().filter((mail) => mail.to === email && mail.subject.startsWith("Wrong codes"));
    expect(await enter(portalBrowser(), WRONG_CODE)).toBe("wrong_code");
    const where = { user: { email }, browser: "" };
    await t.db.prisma.codeAttempts.updateMany({ where, data: { count: WRONG_CODES_PER_DAY_COUNT - 2 } });
    expect(await enter(portalBrowser(), WRONG_CODE)).toBe("wrong_code");
    await t.clock.advance(2 * STEP_MS);
    expect(await enter(portalBrowser(), codeOf(secret, 2))).toBeNull();
    expect(await enter(portalBrowser(), WRONG_CODE)).toBe("wrong_code");
    expect(warnings()).toHaveLength(0);
    for (let count = 0; count < 3; count += 1) expect(await enter(portalBrowser(), codeOf(secret, 2))).toBe("too_many_codes");
    expect(warnings()).toHaveLength(1);
    expect(await enter(browser, codeOf(secret, 2))).toBeNull();
    expect(await enter(portalBrowser(), codes[0] ?? "")).toBeNull();
    const password = "a much better one";
    expect((await browser.send("POST /password", { body: { current: PASSWORD, password } })).status).toBe(200);
    expect(await enter(portalBrowser(), codeOf(secret, 2), password)).toBeNull();
    await enter(portalBrowser(), WRONG_CODE, password);
    await t.db.prisma.codeAttempts.updateMany({ where, data: { count: WRONG_CODES_PER_DAY_COUNT } });
    expect(await enter(portalBrowser(), codeOf(secret, 2), password)).toBe("too_many_codes");
    await t.clock.advance(DAY_MS);
    expect(await enter(portalBrowser(), codeOf(secret, 2), password)).toBeNull();
  });

  test("turning an app on ends the sessions in other browsers, and needs a verified address", async () => {
    const { email, browser } = await member();
    const other = portalBrowser();
    await other.signIn(email, PASSWORD);
    const { secret } = (await browser.send("POST /second-factors/app")).body.data;
    await browser.send("PUT /second-factors/app", { body: { code: codeOf(secret) } });
    expect([await isIn(browser), await isIn(other)]).toEqual([true, false]);
    const squatter = portalBrowser();
    await squatter.send("POST /sign-up", { body: { email: "unverified@example.com", password: PASSWORD } });
    await squatter.signIn("unverified@example.com", PASSWORD);
    expect(await squatter.send("POST /second-factors/app")).toMatchObject(
      failed("invalid_parameter", { detail: "Verify your email address first." }),
    );
  });

  test("turning the app off makes the password enough again, and voids the recovery codes", async () => {
    const { email, browser } = await protectedMember();
    expect((await browser.send("DELETE /second-factors/app")).status).toBe(200);
    expect((await browser.send("DELETE /second-factors/app")).status).toBe(404);
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
    expect(await t.db.prisma.recoveryCode.count({ where: { user: { email } } })).toBe(0);
    const { accountId = "" } = (await t.db.prisma.user.findUnique({ where: { email } })) ?? {};
    const trail = await t.db.prisma.auditEntry.findMany({ where: { accountId }, orderBy: { id: "asc" } });
    const actions = trail.map(({ action }) => action).filter((action) => action.startsWith("second_factor"));
    expect(actions).toEqual(["second_factor.add_app", "second_factor.remove_app"]);
  });
});

describe("a recovery code", () => {
  test("a recovery code replaces the app once, however it is written, and its owner is told", async () => {
    const { email, codes } = await protectedMember();
    const [first = "", second = ""] = codes;
    const browser = portalBrowser();
    await browser.signIn(email, PASSWORD);
    const mails = notices(email);
    expect(await browser.signInBy("code", ` ${first.toUpperCase().replaceAll("-", " ")}`)).toBeNull();
    expect(notices(email)).toBe(mails + 1);
    await browser.signIn(email, PASSWORD);
    expect(await browser.signInBy("code", first)).toBe("wrong_code");
    expect(await browser.signInBy("code", second)).toBeNull();
    expect((await browser.send("GET /second-factors")).body.data.recovery_codes).toBe(RECOVERY_CODES_COUNT - 2);
  });

  test("a recovery code of somebody else, and one that was replaced, is refused", async () => {
    const { email, browser, codes } = await protectedMember();
    const other = await protectedMember();
    const renewed = (await browser.send("POST /second-factors/recovery-codes")).body.data.recovery_codes;
    expect(renewed).toHaveLength(RECOVERY_CODES_COUNT);
    const stranger = portalBrowser();
    await stranger.signIn(email, PASSWORD);
    for (const code of [other.codes[0] ?? "", codes[0] ?? ""]) expect(await stranger.signInBy("code", code)).toBe("wrong_code");
    expect(await stranger.signInBy("code", renewed[0])).toBeNull();
    expect(await (await member()).browser.send("POST /second-factors/recovery-codes")).toMatchObject(failed("invalid_parameter"));
  });

  test("an operator at a terminal resets the second factors of a user, which ends every session", async () => {
    const { email, browser } = await protectedMember();
    await resetSecondFactors(t.users, email);
    expect(await isIn(browser)).toBe(false);
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
    await expect(resetSecondFactors(t.users, email)).rejects.toThrow("no passkey and no authenticator app");
  });
});
