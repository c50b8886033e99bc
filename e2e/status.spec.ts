import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { Browser, Locator } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceStatus } from "../lib/contract/service-status";
import { BROWSER_TIMEOUT_MS, borrowBrowser, returnBrowser } from "./browser";
import { blockStream, createVisits, feedBy, LAYOUT_SHIFT_MAX, picture, SCHEMES, show } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const WAIT = { timeout: 60_000 };

let product: Product;
let browser: Browser;

beforeAll(async () => {
  [product, browser] = await Promise.all([startProduct({ TRUSTED_PROXIES: "127.0.0.1" }), borrowBrowser()]);
  await fetch(`${product.baseUrl}/status`);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

const visit = createVisits(() => browser);

async function report(): Promise<ServiceStatus> {
  const response = await fetch(`${product.baseUrl}/status.json`);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  return (await response.json()) as ServiceStatus;
}

/** The report once the service took its first sample of itself. */
async function sampled(): Promise<ServiceStatus> {
  let found: ServiceStatus | undefined;
  await expect
    .poll(async () => {
      found = await report();
      return found.checked;
    }, WAIT)
    .not.toBeNull();
  return found as ServiceStatus;
}

describe("the status page", () => {
  test.each([1440, 390])(
    "shows parts, history and every instrument of both venues at %i pixels, light and dark",
    async (width) => {
      await sampled();
      const { page, problems, overhang, shift } = await visit({ width });
      await page.goto(`${product.baseUrl}/status`);
      await feedBy(page, "stream");
      await page.getByText(/responded in \d+ ms/).waitFor(WAIT);
      expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["Operational"]);
      expect(await page.getByRole("img", { name: "Live feed, last 24 hours: not bound" }).count()).toBe(1);
      for (const label of ["REST", "Streams", "Sandbox feed"])
        expect(
          await page.getByRole("img", { name: new RegExp(`^${label}, last 24 hours: 100% of .+ recorded$`) }).count(),
          label,
        ).toBe(1);
      await page.getByText("90 d", { exact: true }).click();
      expect(
        await page
          .getByRole("img", { name: /^REST, last 90 days: / })
          .locator("rect")
          .count(),
      ).toBe(90);
      await page.getByText("24 h", { exact: true }).click();
      const widthOf = async (part: Locator) => (await part.boundingBox())?.width;
      const bars = page.getByRole("img", { name: /^REST, last 24 hours/ });
      expect(await widthOf(bars)).toBe(await widthOf(bars.locator("..")));
      const folded = page.getByTitle(/^XAUUSD: /).first();
      expect(await folded.isVisible()).toBe(false);
      await page.locator("summary").filter({ hasText: /^6 / }).first().click();
      expect(await folded.isVisible()).toBe(true);
      const { venues } = await report();
      for (const { groups } of venues)
        for (const { instruments } of groups)
          for (const { ticker } of instruments)
            expect(await page.getByText(ticker, { exact: true }).count(), ticker).toBeGreaterThan(0);
      for (const scheme of SCHEMES) {
        await show(page, width, scheme);
        expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["Operational"]);
        expect(await overhang()).toBeLessThanOrEqual(0);
        await picture(page, `status-${width}-${scheme}`);
      }
      expect(await shift()).toBeLessThan(LAYOUT_SHIFT_MAX);
      expect(problems).toEqual([]);
      await page.close();
    },
  );

  test("has everything before any script runs", async () => {
    await sampled();
    const { page } = await visit({ javaScriptEnabled: false });
    await page.goto(`${product.baseUrl}/status`);
    expect(await page.getByText("TESTSTALE").count()).toBe(1);
    expect(await page.getByRole("img", { name: /^REST, last 24 hours/ }).count()).toBe(1);
    expect(await page.getByText("Operational", { exact: true }).count()).toBe(3);
    const countdowns = await page.getByText(/^(opens|closes) in /).allTextContents();
    expect(countdowns.length).toBeGreaterThan(0);
    for (const text of countdowns) expect(text).toMatch(/ in (\d+ d )?\d\d:\d\d:\d\d$/);
    await page.close();
  });

  test("keeps all in its place on a phone when the service stops answering, also in the fonts of the system", async () => {
    const { page, shift } = await visit({ width: 390 });
    await page.route(/\.woff2$/, (route) => route.abort());
    await page.route("**/status.json", (route) => route.abort());
    await page.goto(`${product.baseUrl}/status`);
    await page.getByRole("heading", { level: 1, name: "Can't reach the service" }).waitFor(WAIT);
    await page.getByText("No response").first().waitFor(WAIT);
    // Narrower or wider, a countdown moves nothing: no other text is in its line.
    const countdowns = page.getByText(/^(opens|closes) in /);
    await countdowns.first().waitFor(WAIT);
    for (const countdown of await countdowns.all()) {
      const own = await countdown.boundingBox();
      const before = await countdown.locator("xpath=preceding-sibling::*[1]").boundingBox();
      if (own && before) expect(own.y).toBeGreaterThanOrEqual(before.y + before.height);
    }
    expect(await shift()).toBeLessThan(LAYOUT_SHIFT_MAX);
    await page.close();
  });

  test("shows a state for each test ticker in the class of the contract: closed is not a problem", async () => {
    const { page } = await visit();
    await page.goto(`${product.baseUrl}/status`);
    await page.locator("summary").filter({ hasText: "Test tickers" }).click();
    const words = async (ticker: string) => (await page.getByRole("listitem").filter({ hasText: ticker }).textContent()) ?? "";
    expect(await words("TESTCLOSED")).toContain("Closed");
    expect(await words("TESTSTALE")).toContain("Stale");
    expect(await words("TESTUNKNOWN")).toContain("no calendar");
    const badge = page.getByRole("listitem").filter({ hasText: "TESTCLOSED" }).getByText("Closed", { exact: true });
    expect(await badge.getAttribute("class")).toContain("text-neutral");
    await page.close();
  });

  test("counts down to the next open or close of a market, then refreshes", { tags: ["slow"] }, async () => {
    const { page } = await visit();
    /** The next look at the service; the group of TESTFLIP is about to turn in the first, and has turned after it. */
    let looks = 0;
    await page.route("**/status.json", async (route) => {
      looks += 1;
      const status = (await (await route.fetch()).json()) as ServiceStatus;
      const groups = status.venues.flatMap((venue) => venue.groups).filter(({ calendar }) => calendar === "flip");
      const turned = looks > 1;
      for (const group of groups)
        Object.assign(group, {
          calendar_state: turned ? "open" : "closed",
          next_open_ms: status.at_ms + (turned ? 240_000 : 3_000),
          next_close_ms: status.at_ms + 120_000,
          instruments: [{ ticker: "TESTFLIP", state: turned ? "open" : "closed", reason: null }],
        });
      await route.fulfill({ json: status });
    });
    await page.goto(`${product.baseUrl}/status`);
    await page.locator("summary").filter({ hasText: "Test tickers" }).click();
    const flip = page.getByRole("listitem").filter({ hasText: "TESTFLIP" });
    await flip.getByText(/^00:00:0[0-3]$/).waitFor(WAIT);
    expect(await flip.textContent()).toContain("opens in");
    await flip.getByText("Open", { exact: true }).waitFor({ timeout: 60_000 });
    expect(await flip.textContent()).toContain("closes in");
    await page.close();
  });

  test("names what has a problem in its headline, except test tickers that are meant to", async () => {
    const { page } = await visit();
    await page.route("**/status.json", async (route) => {
      const status = (await (await route.fetch()).json()) as ServiceStatus;
      const [group] = status.venues.find(({ venue }) => venue === "sandbox")?.groups ?? [];
      Object.assign(group?.instruments[0] ?? {}, { state: "open_data_stale" });
      Object.assign(status, { history: null });
      await route.fulfill({ json: status });
    });
    await page.goto(`${product.baseUrl}/status`);
    await page.getByRole("heading", { level: 1, name: "Degraded" }).waitFor(WAIT);
    await page.getByText("Problems with the database and the sandbox feed.").waitFor(WAIT);
    await page.close();
  });

  test("shows an incident once, without a reload, and as over once its feed is not bound any more", async () => {
    const { url } = JSON.parse(await readFile(join(product.dataDir, "postgres.json"), "utf8")) as { url: string };
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { page } = await visit();
    await page.goto(`${product.baseUrl}/status`);
    await page.getByText(/responded in \d+ ms/).waitFor(WAIT);
    await client.query(
      `INSERT INTO incident_note (id, title, text, impact, starts_at, ends_at, updated_at, part, measured_from, measured_until, automatic)
       VALUES (gen_random_uuid(), 'Live prices unavailable', 'No connection.', 'degraded', now() - interval '9 minutes', NULL, now(), 'live',
               now() - interval '9 minutes', now() - interval '1 minute', true)`,
    );
    const { venues } = await report();
    const live = venues.find(({ venue }) => venue === "live")?.groups.flatMap(({ instruments }) => instruments) ?? [];
    expect(new Set(live.map(({ state }) => state))).toEqual(new Set(["not_bound"]));
    await page.getByText(/, no longer failing$/).waitFor(WAIT);
    await page.getByRole("heading", { level: 1, name: "Operational" }).waitFor(WAIT);
    expect(await page.getByText("Live prices unavailable").count()).toBe(1);
    expect(await page.getByRole("list", { name: "Current incidents" }).count()).toBe(0);
    await client.query("DELETE FROM incident_note");
    await page.getByText("Live prices unavailable").waitFor({ ...WAIT, state: "detached" });
    await page.close();
    await client.end();
  });

  test("polls when no stream opens, and shows that", { tags: ["slow"] }, async () => {
    const { page } = await visit();
    await blockStream(page);
    await page.goto(`${product.baseUrl}/status`);
    await page.getByText("Can't open a stream.").waitFor(WAIT);
    expect(await page.getByText("not connected here").count()).toBe(1);
    await picture(page, "status-polling");
    await page.close();
  });

  test("shows that the service does not answer, or that the browser is offline, and continues", { tags: ["slow"] }, async () => {
    const { page } = await visit();
    await page.goto(`${product.baseUrl}/status`);
    await page.getByText("All parts of the service respond.").waitFor(WAIT);
    await page.route("**/status.json", (route) => route.abort());
    await page.getByText("Can't reach the service. Showing data from").waitFor(WAIT);
    await page.getByRole("heading", { level: 1, name: "Can't reach the service" }).waitFor(WAIT);
    expect(await page.getByText("No response").count()).toBe(3);
    expect(await page.getByText("Operational", { exact: true }).count()).toBe(0);
    await picture(page, "status-unanswered");
    await page.context().setOffline(true);
    await page.getByText("You're offline.").waitFor(WAIT);
    await page.unroute("**/status.json");
    await page.context().setOffline(false);
    await page.getByText("All parts of the service respond.").waitFor(WAIT);
    await page.close();
  });
});

describe("the history", () => {
  test(
    "survives a restart, also one without warning",
    async () => {
      const first = await sampled();
      const minutes = ({ history }: ServiceStatus) => (history?.rest ?? []).reduce((sum, bucket) => sum + bucket.minutes, 0);
      expect(minutes(first)).toBeGreaterThan(0);
      expect(first.checked).toMatchObject({ rest: true, stream: true });
      await product.kill9();
      product = await product.restart();
      const second = await report();
      expect(minutes(second)).toBeGreaterThanOrEqual(minutes(first));
      expect(second.checked?.at_ms).toBeGreaterThanOrEqual(first.checked?.at_ms ?? Number.POSITIVE_INFINITY);
    },
    SERVER_TIMEOUT_MS,
  );
});
