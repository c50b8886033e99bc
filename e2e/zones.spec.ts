import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BROWSER_TIMEOUT_MS, borrowBrowser, expectToBeLoaded, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { createVisits, expectToStay } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { signUp, type Visitor } from "./visitor";

const OPERATOR = "operator@example.test";
/** Places of readers, the zone's name on the switch, and what noon in UTC is there in summer. */
const PLACES = [
  ["America/New_York", "New York", "2026-07-01T08:00"],
  ["Asia/Kolkata", "Kolkata", "2026-07-01T17:30"],
] as const;
const PUBLIC_PAGES = [
  "/",
  "/markets",
  "/markets/XAUUSD",
  "/markets/TESTGAP",
  "/data",
  "/data/TESTGAP",
  "/status",
  "/plans",
  "/playground",
  "/playground?op=quoteStream",
  "/docs",
  "/docs/quickstart",
  "/docs/market-status",
  "/docs/klines",
  "/docs/operations/klines",
  "/signin",
  "/nothing-here",
];
const OWN_PAGES = [
  "/dashboard",
  "/dashboard/keys",
  "/dashboard/links",
  "/dashboard/usage",
  "/dashboard/logs",
  "/dashboard/webhooks",
  "/dashboard/organisation",
  "/dashboard/account",
];
const ADMIN_PAGES = [
  "/admin",
  "/admin/accounts",
  "/admin/plans",
  "/admin/billing",
  "/admin/calendars",
  "/admin/incidents",
  "/admin/feeds",
  "/admin/data",
  "/admin/data/USDCAD",
  "/admin/audit",
];
/** Pages that show instants whatever the installation has done. */
const WITH_INSTANTS = [
  "/",
  "/markets/XAUUSD",
  "/dashboard",
  "/status",
  "/data/TESTGAP",
  "/dashboard/logs",
  "/dashboard/account",
  "/admin/audit",
  "/admin/data/USDCAD",
];
const WALK_MAX_MS = 300_000;
/** The newest kline of a chart is younger, and the clocks of the places are further apart. */
const KLINE_AGE_MAX_MS = 4 * 3_600_000;

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let folder: string;
let operator: Visitor;

/** A key that ends and was used, an incident, and imported klines: each page then has times to show. */
async function fillPages(): Promise<void> {
  const expires_at = "2027-03-06T10:00:00.000Z";
  const settings = { name: "Shop", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at };
  const key = String((await operator.call("POST", "keys", settings)).data.text);
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`${product.baseUrl}/api/v1/market/quotes/latest?tickers=EURUSD`, { headers });
  await vi.waitFor(async () => expect((await operator.call("GET", "logs")).data.items).toHaveLength(1), {
    timeout: STEP_MAX_MS,
    interval: 250,
  });
  const file = join(folder, "USDCAD.csv");
  const rows = Array.from(
    { length: 300 },
    (_, index) => `${Date.UTC(2024, 2, 6) / 1000 + index * 60},1.1,1.2,1.0,1.15,1,0,0.0003`,
  );
  await writeFile(file, `time,open,high,low,close,tick_volume,real_volume,spread\n${rows.join("\n")}\n`);
  expect(await runCommand(product, "import", [file])).toMatchObject({ exitCode: 0 });
}

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser, folder] = await Promise.all([
    startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", PLANS_PAGE: "public" }),
    borrowBrowser(),
    mkdtemp(join(tmpdir(), "spotwire-zones-")),
  ]);
  const person = { email: OPERATOR, password: "correct horse battery", address: "198.51.100.1" };
  operator = await signUp({ baseUrl: product.baseUrl, mailbox }, person);
  expect((await runCommand(product, "admin", ["grant", OPERATOR])).exitCode).toBe(0);
  await operator.addApp();
  await fillPages();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
}, SERVER_TIMEOUT_MS);

/** A reader whose device is in a zone, signed in as the operator or a stranger. */
async function readerIn(zone: string, visitor?: Visitor): Promise<BrowserContext> {
  const context = await browser.newContext({ timezoneId: zone, viewport: { width: 1440, height: 900 } });
  const cookies = [...(visitor?.cookies ?? [])];
  if (cookies.length > 0) await context.addCookies(cookies.map(([name, value]) => ({ name, value, url: product.baseUrl })));
  return context;
}

const switchOf = (page: Page) => page.getByRole("banner").getByRole("group", { name: "Time zone" });
const choose = (page: Page, name: "UTC" | RegExp) => switchOf(page).getByRole("radio", { name }).check();

interface Shown {
  /** What the header names. */
  readonly zone: string;
  /** Instants with the text that stands for them and the one on hover. */
  readonly instants: readonly { readonly at: string; readonly text: string; readonly title: string }[];
  /** When klines of charts open, as the page says it. */
  readonly klines: readonly string[];
  /** Other clock times, which do not change with the zone. */
  readonly strays: readonly string[];
  /** Texts that name UTC, except those of days, months and years, which are counted in it. */
  readonly ofUtc: readonly string[];
  /** What sentences say of the zone. */
  readonly sentences: readonly string[];
}

/** All times that can be seen on a page, and the zone that its header names. */
function shownOn(page: Page): Promise<Shown> {
  return page.evaluate(() => {
    const seen = (element: Element | null) => element?.checkVisibility() === true;
    const zone = document.querySelector("header fieldset label:has(:checked)")?.textContent ?? "";
    const instants = [...document.querySelectorAll("time")]
      .filter((element) => seen(element) && /[A-Z][a-z]{2}|^\d\d:\d\d(:\d\d)?$/.test(element.textContent ?? ""))
      // A day without a time, as of a guide's last change, is the same everywhere.
      .filter((element) => element.dateTime.includes("T"))
      .filter((element) => !/\b(in|left)\s*$/.test(element.previousSibling?.textContent ?? ""))
      .map((element) => ({ at: element.dateTime, text: element.textContent ?? "", title: element.title }));
    // Guides tell of hours in sentences and in what a reader types, and of the API, which answers in UTC.
    const isGuide = /^\/docs(\/|$)/.test(location.pathname);
    const words = isGuide ? "" : (document.querySelector("main")?.textContent ?? "");
    const sentences = [...words.matchAll(/[Tt]imes? in (UTC|New York|Kolkata)/g)].map(([, name = ""]) => name);
    const [klines, strays, ofUtc]: [string[], string[], string[]] = [[], [], []];
    const texts = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const element = node.parentElement;
      if (isGuide || !seen(element) || element?.closest("time, pre, code, label:has([type=radio])")) continue;
      // The end of a day is 24:00 in all zones, and trading days begin in New York.
      const clocks = /\b(?!24:00)\d\d:\d\d\b(?! in New York)/;
      const text = node.textContent ?? "";
      const isKline = element?.closest("figure") && /^\d\d [A-Z][a-z]+ \d{4} \d\d:\d\d$/.test(text);
      if (isKline) klines.push(text);
      else if (clocks.test(text)) strays.push(text);
      const sentence = element?.textContent ?? "";
      if (/\bUTC\b(?! offset)/.test(text) && !/\b(day|month|year)s?\b/i.test(sentence)) ofUtc.push(sentence);
    }
    return { zone, instants, klines, strays, ofUtc, sentences };
  });
}

/** What a clock in a zone shows now, as if it were UTC. */
function wallTimeMs(timeZone: string): number {
  const shape = { dateStyle: "short", timeStyle: "medium", timeZone } as const;
  return Date.parse(`${new Intl.DateTimeFormat("sv-SE", shape).format(Date.now()).replace(" ", "T")}Z`);
}

/** The clock of an instant in a zone, or its day where a text has no clock. */
function expectedIn(zone: string, { at, text }: Shown["instants"][number]): string {
  const shape: Intl.DateTimeFormatOptions = text.includes(":")
    ? { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }
    : { day: "2-digit", month: "short" };
  return new Intl.DateTimeFormat("en-GB", { ...shape, timeZone: zone }).format(new Date(at));
}

/** Asserts that a page shows one zone, names it, and has the other one on hover. Resolves with the number of its instants. */
async function expectOneZone(page: Page, shown: { zone: string; name: string; other: string }): Promise<number> {
  const where = `${page.url()} in ${shown.zone}`;
  const { zone, instants, klines, strays, ofUtc, sentences } = await shownOn(page);
  expect(zone, where).toBe(shown.name);
  expect(strays, where).toEqual([]);
  if (shown.zone !== "UTC") expect(ofUtc, where).toEqual([]);
  for (const name of sentences) expect(name, where).toBe(shown.name);
  if (klines.length > 0) {
    const behindMs = wallTimeMs(shown.zone) - Math.max(...klines.map((text) => Date.parse(`${text} UTC`)));
    expect(behindMs, `${where}: ${klines}`).toBeGreaterThanOrEqual(0);
    expect(behindMs, `${where}: ${klines}`).toBeLessThan(KLINE_AGE_MAX_MS);
  }
  for (const instant of instants) {
    expect(instant.text, `${where}, ${instant.at}`).toContain(expectedIn(shown.zone, instant));
    expect(instant.title, `${where}, ${instant.at}`).toContain(expectedIn(shown.other, { ...instant, text: instant.title }));
    expect(instant.title, where).toMatch(new RegExp(`${shown.other}$`));
  }
  return instants.length;
}

describe.each(PLACES)("a reader in %s", (place, name, noon) => {
  const utc = { zone: "UTC", name: "UTC", other: place };
  const local = { zone: place, name, other: "UTC" };

  test.each([
    ["public pages", PUBLIC_PAGES, false],
    ["pages of the account", OWN_PAGES, true],
    ["pages for operators", ADMIN_PAGES, true],
  ] as const)(
    "sees one zone on all %s, which the header names: UTC at first, then the one they choose",
    async (_, paths, signedIn) => {
      const context = await readerIn(place, signedIn ? operator : undefined);
      const page = await context.newPage();
      for (const path of paths) {
        await openPage(page, product.baseUrl + path);
        expect(new URL(page.url()).pathname).toBe(path.split("?")[0]);
        const counts = [await expectOneZone(page, utc)];
        await choose(page, new RegExp(name));
        counts.push(await expectOneZone(page, local));
        if (WITH_INSTANTS.includes(path)) expect(Math.min(...counts), path).toBeGreaterThan(0);
        await choose(page, "UTC");
      }
      await context.close();
    },
    WALK_MAX_MS,
  );

  test("keeps the choice over a reload and on other pages, and in tabs that are open already", { timeout: 180_000 }, async () => {
    const context = await readerIn(place);
    const [page, tab] = [await context.newPage(), await context.newPage()];
    await openPage(page, `${product.baseUrl}/status`);
    await openPage(tab, `${product.baseUrl}/markets`);
    await choose(page, new RegExp(name));
    await switchOf(tab)
      .getByRole("radio", { name: new RegExp(name), checked: true })
      .waitFor({ state: "attached" });
    await page.reload();
    await expectToBeLoaded(page);
    await switchOf(page)
      .getByRole("radio", { name: new RegExp(name), checked: true })
      .waitFor({ state: "attached" });
    expect(await expectOneZone(page, local)).toBeGreaterThan(0);
    await page.getByRole("banner").getByRole("link", { name: "Data" }).click();
    await page.waitForURL("**/data");
    await expectToBeLoaded(page);
    await expectOneZone(page, local);
    await choose(tab, "UTC");
    await switchOf(page).getByRole("radio", { name: "UTC", checked: true }).waitFor({ state: "attached" });
    await expectOneZone(page, utc);
    await context.close();
  });

  test("switches in the settings of the account too", { timeout: 120_000 }, async () => {
    const context = await readerIn(place, operator);
    const page = await context.newPage();
    await openPage(page, `${product.baseUrl}/dashboard/account`);
    await page
      .getByRole("main")
      .getByRole("group", { name: "Time zone" })
      .getByRole("radio", { name: new RegExp(name) })
      .check();
    expect(await expectOneZone(page, local)).toBeGreaterThan(0);
    await context.close();
  });

  test("types times in the zone that the page shows, and they stay the same instants when it changes", async () => {
    const context = await readerIn(place, operator);
    const [page, tab] = [await context.newPage(), await context.newPage()];
    await openPage(page, `${product.baseUrl}/admin/incidents`);
    await openPage(tab, `${product.baseUrl}/status`);
    await page.getByRole("button", { name: "Add a note" }).click();
    await page.getByLabel("Title").fill(`Maintenance in ${name}`);
    await page.getByText("Time in UTC. Leave empty if ongoing.").waitFor();
    await page.getByLabel("Starts").fill("2026-07-01T12:00");
    await choose(tab, new RegExp(name));
    await page.getByText(`Time in ${name}. Leave empty if ongoing.`).waitFor();
    expect(await page.getByLabel("Starts").inputValue()).toBe(noon);
    await page.getByLabel("Ends (optional)").fill(noon.replace("07-01", "07-02"));
    await page.getByRole("button", { name: "Publish" }).click();
    await page
      .getByRole("listitem")
      .filter({ hasText: `Maintenance in ${name}` })
      .waitFor();
    const notes = (await operator.call("GET", "admin/incident-notes")).data.items as Record<string, string>[];
    expect(notes.find(({ title }) => title === `Maintenance in ${name}`)).toMatchObject({
      starts_at: "2026-07-01T12:00:00.000Z",
      ends_at: "2026-07-02T12:00:00.000Z",
    });
    await context.close();
  }, 120_000);
});

test("pages come in without moving where the zone of the device was chosen, on a phone too", { timeout: 240_000 }, async () => {
  const reading = await createVisits(() => browser)({ timezoneId: "America/Argentina/Buenos_Aires" });
  await reading.page.addInitScript(`localStorage.setItem("spotwire.zone", '"local"')`);
  for (const width of [1440, 390])
    for (const path of ["/", "/status", "/data/TESTGAP", "/markets/XAUUSD"]) {
      await reading.open(product.baseUrl + path, { width, cookies: new Map(), address: "198.51.100.9" });
      await switchOf(reading.page)
        .getByRole("radio", { name: /Buenos Aires/, checked: true })
        .waitFor({ state: "attached" });
      await expectToStay(reading, `${path} at ${width}`);
    }
  await reading.page.close();
});
