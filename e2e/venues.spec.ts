import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServiceStatus } from "../lib/contract/service-status";
import { BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser } from "./browser";
import { keyHolder, makeLiveKey, runCommand } from "./commands";
import { createFeeder, type Feeder } from "./feeder";
import { type Mailbox, openMailbox } from "./mailbox";
import { createVisits } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { codeOf, signUp, type Visitor } from "./visitor";

const PASSWORD = "correct horse battery";
const OPERATOR = "operator@example.test";
const LIVE_KEY = { name: "Desk", venue: "live", scopes: ["market:read", "market:stream"], origins: [], expires_at: null };
const SOON = { timeout: 60_000, interval: 100 };
/** The pages that show prices, and open without a sign-in. */
const PAGES = ["/", "/markets", "/markets/EURUSD", "/playground"];
const NEEDS = "Live prices need access that the operator grants.";

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let feeder: Feeder;
let readers: Record<"operator" | "granted" | "other", Visitor>;
let secret: string;

const signUpAs = (email: string, address: string) =>
  signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address });

beforeAll(
  async () => {
    mailbox = await openMailbox();
    [product, browser] = await Promise.all([
      startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", LIVE_FEED: "push" }),
      borrowBrowser(),
    ]);
    feeder = createFeeder(keyHolder(product, await makeLiveKey(product, "market:ingest")));
    await feeder.push(feeder.ticks("EURUSD", [[112_345, 112_355]]));
    readers = {
      operator: await signUpAs(OPERATOR, "198.51.100.1"),
      granted: await signUpAs("granted@example.test", "198.51.100.2"),
      other: await signUpAs("other@example.test", "198.51.100.3"),
    };
    expect((await runCommand(product, "admin", ["grant", OPERATOR])).exitCode).toBe(0);
    expect((await runCommand(product, "admin", ["grant-live", "granted@example.test"])).exitCode).toBe(0);
    secret = await readers.operator.addApp();
    for (const reader of [readers.operator, readers.granted])
      expect(await reader.call("POST", "keys", LIVE_KEY)).toMatchObject({ status: 200 });
  },
  BROWSER_TIMEOUT_MS + 2 * SERVER_TIMEOUT_MS,
);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

const visit = createVisits(() => browser);

/** What a page says before any script runs. */
async function textOf(path: string, visitor?: Visitor): Promise<string> {
  const cookie = [...(visitor?.cookies ?? [])].map((pair) => pair.join("=")).join("; ");
  const answer = await fetch(product.baseUrl + path, { headers: { cookie, "x-forwarded-for": "198.51.100.9" } });
  expect(answer.status, path).toBe(200);
  const html = (await answer.text()).replace(/<(script|style)[\s\S]*?<\/\1>/g, "");
  return html.replace(/<!--[\s\S]*?-->|<[^>]+>/g, "").replaceAll("&#x27;", "'");
}

test.each(PAGES)("%s shows a stranger, and an account without live access, the sandbox and why", async (path) => {
  for (const visitor of [undefined, readers.other]) {
    const text = await textOf(path, visitor);
    expect(text).toContain(NEEDS);
    expect(text).not.toContain("1.12345");
  }
});

test.each([...PAGES, "/dashboard"])("%s shows readers with live access the live venue, and names it", async (path) => {
  for (const visitor of [readers.granted, readers.operator]) {
    const text = await textOf(path, visitor);
    expect(text).toMatch(/From pushed ticks\.|Live prices from pushed ticks\./);
    expect(text).not.toContain(NEEDS);
    if (path !== "/playground") expect(text).toContain("1.12345");
  }
});

test("a reader with live access who chooses the sandbox stays there, and sees that it is the sandbox", async () => {
  const text = await textOf("/markets?venue=sandbox", readers.granted);
  expect(text).toContain("This is the sandbox. Sandbox prices are synthetic");
  expect(text).not.toContain("1.12345");
  const { page } = await visit();
  await page.context().addCookies([...readers.granted.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
  await page.goto(`${product.baseUrl}/markets?venue=sandbox`);
  await page.getByRole("link", { name: /EURUSD/ }).click();
  await page.waitForURL("**/markets/EURUSD?venue=sandbox");
  await page.close();
});

test("the dashboard of an account without live access shows the sandbox, and a guide says whose prices its chart shows", async () => {
  expect(await textOf("/dashboard", readers.other)).toContain(NEEDS);
  expect(await textOf("/docs/charts")).toContain("Synthetic prices, read with the demo key.");
});

test("an account asks for live access in one click, and sees it when an operator declines it, and when one grants it", async () => {
  const pageOf = async (visitor: Visitor) => {
    const { page } = await visit({ width: 390 });
    await page.context().addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
    return page;
  };
  const asking = await pageOf(await signUpAs("asking@example.test", "198.51.100.4"));
  await asking.goto(`${product.baseUrl}/markets`);
  await asking.getByRole("button", { name: "Ask for live access" }).click();
  await asking.getByRole("status").getByText("You asked on").waitFor();
  // So does the other place that offers it.
  await asking.goto(`${product.baseUrl}/dashboard/keys?new=1`);
  await asking.getByRole("radio", { name: /^Live/ }).check();
  await asking.getByRole("dialog").getByText("You asked on").waitFor();

  const page = await pageOf(readers.operator);
  await page.goto(`${product.baseUrl}/admin`);
  await page.getByRole("link", { name: "1 account waits for you" }).click();
  const row = page.getByRole("row", { name: /Asks for live access/ });
  await row.getByRole("button", { name: "Actions for asking@example.test" }).click();
  await page.getByRole("menuitem", { name: "Decline live access" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Decline", exact: true }).click();
  await page.getByText("The request of asking@example.test was declined.", { exact: true }).waitFor();
  await asking.goto(`${product.baseUrl}/markets`);
  await asking.getByRole("status").getByText("Declined on").waitFor();
  await asking.getByText("You can ask again from").waitFor();

  // It does not wait any more, so it is among all accounts only.
  await page.goto(`${product.baseUrl}/admin/accounts`);
  await page.getByRole("button", { name: "Actions for asking@example.test" }).click();
  await page.getByRole("menuitem", { name: "Access", exact: true }).click();
  const access = page.getByRole("dialog");
  await access.getByRole("checkbox", { name: /^Live access/ }).check();
  await access.getByText("the terms of the source that they come from apply").waitFor();
  await access.getByRole("button", { name: "Grant live access" }).click();
  await page.getByText("Live access granted to asking@example.test.", { exact: true }).waitFor();

  expect(await mailbox.nextLink("asking@example.test", "/dashboard/keys")).toBe(`${product.baseUrl}/dashboard/keys`);
  // As when its reader returns to the tab: the page that stood open tells what is missing now.
  const returned = async () => {
    await asking.evaluate(() => window.dispatchEvent(new Event("focus")));
    return asking.getByText("you need an active live key").isVisible();
  };
  await expect.poll(returned, { timeout: 30_000 }).toBe(true);
  await Promise.all([page.close(), asking.close()]);
});

test("what was never pushed is not offered, and an operator retires it in one step", async () => {
  const status = async () => (await (await fetch(`${product.baseUrl}/status.json`)).json()) as ServiceStatus;
  const statesOf = ({ venues }: ServiceStatus) =>
    venues.find(({ venue }) => venue === "live")?.groups.flatMap(({ instruments }) => instruments) ?? [];
  const unoffered = statesOf(await status()).filter(({ state }) => state === "not_offered");
  expect(unoffered.length).toBe(53);
  const ready = (await (await fetch(`${product.baseUrl}/api/ready`)).json()) as { checks: Record<string, string> };
  expect(ready.checks).toMatchObject({ feed_live: "ok" });
  const { page } = await visit({ width: 1440 });
  await page.goto(`${product.baseUrl}/status`);
  await page.getByRole("heading", { name: "Not offered by push" }).waitFor();
  for (const { ticker } of unoffered) expect(await page.getByText(ticker, { exact: true }).count(), ticker).toBeGreaterThan(0);
  await openPage(page, `${product.baseUrl}/admin/feeds`);
  await page.getByLabel("Email").fill(OPERATOR);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByLabel("Code").fill(codeOf(secret, 1));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("53 instruments not offered by push").click();
  await page.getByRole("button", { name: "Retire all 53" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Retire", exact: true }).click();
  await page.getByText("53 instruments retired.", { exact: true }).waitFor();
  await expect.poll(async () => statesOf(await status()).map(({ ticker }) => ticker), SOON).toEqual(["EURUSD"]);
  const { data } = await readers.operator.call("GET", "admin/audit");
  expect(data.items).toContainEqual(expect.objectContaining({ action: "instrument.retire", target: unoffered.at(-1)?.ticker }));
  await page.close();
});
