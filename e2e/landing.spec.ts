import { mkdtemp } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BROWSER_TIMEOUT_MS, openBrowser } from "./browser";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const WIDTHS_PX = [1440, 390, 360] as const;
const SCHEMES = ["light", "dark"] as const;
const HEIGHT_PX = 900;

let product: Product;
let browser: Browser;
let pictures: string;

beforeAll(async () => {
  [product, browser, pictures] = await Promise.all([
    startProduct(),
    openBrowser(),
    process.env.SCREENSHOT_DIR ?? mkdtemp(join(tmpdir(), "spotwire-pictures-")),
  ]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

/** Opens a path and gathers what the page complains of. */
async function open(path: string, width: number, colorScheme: "light" | "dark"): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: HEIGHT_PX }, colorScheme });
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()} failed`));
  await page.goto(product.baseUrl + path, { waitUntil: "networkidle" });
  return { page, complaints };
}

/** How far the page can be scrolled sideways, in CSS pixels. */
function overhang(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

describe.each(WIDTHS_PX)("the first page at %i pixels", (width) => {
  it.each(SCHEMES)("shows prices and states, without a complaint or a sideways scroll, in %s", async (scheme) => {
    const { page, complaints } = await open("/", width, scheme);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await page.getByRole("row").count()).toBe(9);
    expect(await page.getByRole("row", { name: /^EURUSD [\d.]+ .*Open$/ }).count()).toBe(1);
    expect(await overhang(page)).toBeLessThanOrEqual(0);
    await page.screenshot({ path: join(pictures, `landing-${width}-${scheme}.png`), fullPage: true });
    expect(complaints).toEqual([]);
    await page.close();
  });
});

describe("the first page", () => {
  it("follows the system between light and dark", async () => {
    const { page } = await open("/", 1440, "light");
    const ground = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await ground()).not.toBe(light);
    await page.close();
  });

  it("shows a curl line that gets an answer when its address and key are used", async () => {
    const { page } = await open("/", 1440, "light");
    const line = (await page.locator("pre code").textContent()) ?? "";
    const [, key, url] = /^curl -H "Authorization: Bearer (\S+)" "(\S+)"$/.exec(line) ?? [];
    const answer = await fetch(url ?? "", { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { code: number }).code).toBe(0);
    await page.close();
  });

  it("says that no provider feeds the live venue, and when its markets turn next", async () => {
    const { page } = await open("/", 1440, "light");
    expect(await page.getByText("No provider is bound.").count()).toBe(1);
    expect(await page.locator("li time").count()).toBe(2);
    await page.close();
  });

  it("links only to addresses that answer", async () => {
    const { page } = await open("/", 1440, "light");
    const links: string[] = await page.evaluate("[...document.links].map((link) => link.href)");
    const own = [...new Set(links)].filter((link) => link.startsWith(product.baseUrl));
    expect(own.length).toBeGreaterThan(2);
    for (const link of own) expect((await fetch(link)).status, link).toBe(200);
    await page.close();
  });

  it("can be walked through with the keyboard, with the focus in sight", async () => {
    const { page } = await open("/", 1440, "light");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.close();
  });

  it("does not repeat a Host header that is no host", async () => {
    const body = await new Promise<string>((resolve, reject) => {
      request(product.baseUrl, { headers: { host: "x.example$(touch /tmp/x)" } }, (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve(text));
      })
        .on("error", reject)
        .end();
    });
    expect(body).not.toContain("touch /tmp");
  });
});

describe("an address that does not exist", () => {
  it.each(WIDTHS_PX)("is told so, with a way back, at %i pixels", async (width) => {
    const { page } = await open("/no/such/page", width, "light");
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("There is nothing at this address");
    expect(await overhang(page)).toBeLessThanOrEqual(0);
    await page.getByRole("link", { name: "Back to the start" }).click();
    await page.waitForURL(`${product.baseUrl}/`);
    await page.close();
  });
});
