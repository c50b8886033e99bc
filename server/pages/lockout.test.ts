import { afterAll, beforeAll, expect, test } from "vitest";
import { KNOWN_BROWSER_LIFETIME_S } from "#lib/contract/portal";
import { mailedToken, type PortalBrowser, portalBrowser, tokenMailedBy } from "#server/testing/portal-browser";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";
const WRONG = "not the password";
const KNOWN = "spotwire.known";
/** Attempts in a minute of one browser that is known, of a network and of all networks together, on one account. */
const BROWSER_ATTEMPTS = 5;
const NETWORK_ATTEMPTS = 10;
const ACCOUNT_ATTEMPTS = 30;

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

/** An owner with a verified address, and the browser in which they signed in before. */
async function owner(): Promise<{ email: string; browser: PortalBrowser }> {
  const email = `locked${++people}@example.com`;
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
  await t.clock.advance(60_000);
  return { email, browser };
}

/** A guesser sends wrong passwords from this many clients of each network. */
async function guess(email: string, networks: readonly string[], clients: number): Promise<void> {
  for (const network of networks)
    for (let client = 1; client <= clients; client += 1) await portalBrowser(`${network}.${client}`).signIn(email, WRONG);
}

test("wrong passwords from a whole network do not refuse the owner from elsewhere", async () => {
  const { email } = await owner();
  await guess(email, ["192.0.2"], 35);
  expect(await portalBrowser("192.0.2.99").signIn(email, PASSWORD)).toBe("rate_limited");
  expect(await portalBrowser("203.0.113.1").signIn(email, PASSWORD)).toBeNull();
});

test("wrong passwords from many networks refuse new browsers, but no browser that signed in to the account before", async () => {
  const { email, browser } = await owner();
  const networks = Array.from({ length: ACCOUNT_ATTEMPTS / NETWORK_ATTEMPTS }, (_, index) => `198.51.${index}`);
  await guess(email, networks, NETWORK_ATTEMPTS);
  expect(await portalBrowser().signIn(email, PASSWORD)).toBe("rate_limited");
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
});

test("a reset link lifts the refusal in the browser that opened it, and no browser stays known that signed in before", async () => {
  const { email, browser } = await owner();
  const networks = Array.from({ length: ACCOUNT_ATTEMPTS / NETWORK_ATTEMPTS + 1 }, (_, index) => `198.19.${index}`);
  await guess(email, networks, NETWORK_ATTEMPTS);
  const fresh = portalBrowser();
  expect(await fresh.signIn(email, PASSWORD)).toBe("rate_limited");
  const token = await tokenMailedBy(t.capturedMails, email, () => fresh.send("POST /forgot", { body: { email } }));
  const password = "a much better one";
  expect(await fresh.send("POST /reset", { body: { token, password } })).toMatchObject({ status: 200 });
  expect(await fresh.signIn(email, password)).toBeNull();
  expect(await browser.signIn(email, password)).toBe("rate_limited");
});

test("signing out everywhere makes browsers strangers that signed in before", async () => {
  const { email, browser } = await owner();
  expect(await browser.send("DELETE /sessions")).toMatchObject({ status: 200 });
  const networks = Array.from({ length: ACCOUNT_ATTEMPTS / NETWORK_ATTEMPTS }, (_, index) => `198.20.${index}`);
  await guess(email, networks, NETWORK_ATTEMPTS);
  expect(await browser.signIn(email, PASSWORD)).toBe("rate_limited");
});

test("a guesser at the owner's own address does not refuse the owner's browser", async () => {
  const { email, browser } = await owner();
  for (let count = 0; count < 10; count += 1) await portalBrowser(browser.address).signIn(email, WRONG);
  expect(await portalBrowser(browser.address).signIn(email, PASSWORD)).toBe("rate_limited");
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
});

test("a browser that signed in before has few attempts itself, and is known to its own account only", async () => {
  const [{ email, browser }, other] = [await owner(), await owner()];
  for (let count = 0; count < BROWSER_ATTEMPTS; count += 1) expect(await browser.signIn(email, WRONG)).toBe("CredentialsSignin");
  expect(await browser.signIn(email, PASSWORD)).toBe("rate_limited");
  await guess(
    other.email,
    Array.from({ length: ACCOUNT_ATTEMPTS / NETWORK_ATTEMPTS }, (_, index) => `198.18.${index}`),
    NETWORK_ATTEMPTS,
  );
  expect(await browser.signIn(other.email, PASSWORD)).toBe("rate_limited");
});

test("a forged, changed or outdated cookie makes no browser known", async () => {
  const { email, browser } = await owner();
  const known = browser.cookies.get(KNOWN) ?? "";
  const [claims = "", signature = ""] = known.split(".");
  const forged = Buffer.from(
    Buffer.from(claims, "base64url")
      .toString()
      .replace(/"id":"(.)/, (_, first) => `"id":"${first === "0" ? "1" : "0"}`),
  ).toString("base64url");
  const networks = (start: number) =>
    Array.from({ length: ACCOUNT_ATTEMPTS / NETWORK_ATTEMPTS }, (_, n) => `172.16.${start + n}`);
  await guess(email, networks(0), NETWORK_ATTEMPTS);
  for (const value of [`${forged}.${signature}`, `${claims}.${"A".repeat(43)}`, "rubbish", ""]) {
    const stranger = portalBrowser();
    stranger.cookies.set(KNOWN, value);
    expect(await stranger.signIn(email, PASSWORD)).toBe("rate_limited");
  }
  t.clock.set(t.clock.now() + KNOWN_BROWSER_LIFETIME_S * 1000);
  await guess(email, networks(10), NETWORK_ATTEMPTS);
  expect(await browser.signIn(email, PASSWORD)).toBe("rate_limited");
});
