import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, test } from "vitest";
import { reservePort } from "#lib/testing/ports";
import { BROWSER_TIMEOUT_MS, borrowBrowser, returnBrowser } from "./browser";
import { installClient } from "./client-package";
import { makeKey } from "./commands";
import { type Program, startProgram } from "./sample-programs";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const ROOT = path.join(import.meta.dirname, "..");
const GUIDE = path.join(ROOT, "lib", "docs", "guides", "clients.mdx");

let product: Product;
let browser: Browser;
/** The reader's own server, and the site that has the page and passes on to it what the page asks for. */
let backend: Program;
let site: Server;
let siteUrl: string;
let folder: string;

/** A sample of the guide with the addresses of this test, bundled with the package as a reader would. */
async function bundled(
  title: string,
  addresses: Readonly<Record<string, string>>,
  platform: "node" | "browser",
): Promise<string> {
  const fence = new RegExp(`^\`\`\`ts norun title="${title}"\\n([\\s\\S]*?)^\`\`\`$`, "m");
  const [, code] = fence.exec(readFileSync(GUIDE, "utf8")) ?? [];
  if (code === undefined) throw new Error(`The guide has no sample ${title}.`);
  let text = code;
  for (const [written, real] of Object.entries(addresses)) text = text.replaceAll(written, real);
  const file = path.join(folder, title);
  writeFileSync(file, text);
  const { outputFiles } = await build({ entryPoints: [file], bundle: true, write: false, format: "esm", platform });
  return outputFiles[0]?.text ?? "";
}

beforeAll(async () => {
  // A restart keeps its address, as behind a reader's domain.
  const port = String(await reservePort());
  [product, browser] = await Promise.all([startProduct({ ...API_ONLY, PORT: port }), borrowBrowser()]);
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-tickets-"));
  installClient(folder);

  const backendPort = String(await reservePort());
  let html = "";
  site = createServer(async ({ url }, response) => {
    if (url === "/") return response.setHeader("content-type", "text/html").end(html);
    // The reader's server may still be starting.
    const answer = await fetch(`http://localhost:${backendPort}${url}`).catch(() => undefined);
    return response.writeHead(answer?.status ?? 502).end(await answer?.text());
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const addresses = { "http://localhost:3000": product.baseUrl, "https://app.example.com": siteUrl, "8080": backendPort };
  const script = (await bundled("page.ts", addresses, "browser")).replaceAll("</script", "<\\/script");
  html = `<!doctype html><title>A page</title><script type="module">${script}</script>`;
  const program = path.join(folder, "server.mjs");
  writeFileSync(program, await bundled("server.ts", addresses, "node"));
  const { text } = await makeKey(product, { venue: "sandbox", scopes: "market:stream", origins: siteUrl });
  backend = startProgram(["env", `SPOTWIRE_KEY=${text}`, process.execPath, program]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  backend?.stop();
  site?.close();
  await returnBrowser(browser);
  await product?.dispose();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}, SERVER_TIMEOUT_MS);

/** The next line that the page prints and that matches. */
const line = (page: Page, type: "log" | "warning", text: RegExp) =>
  page.waitForEvent("console", {
    predicate: (message) => message.type() === type && text.test(message.text()),
  });

test(
  "the page of the guide, with tickets from its own server, streams on after the service was stopped and started again",
  async () => {
    const page = await browser.newPage();
    const first = line(page, "log", /^\d+ \d+\.\d+ \d+\.\d+$/);
    await page.goto(siteUrl);
    await first;
    const refused = line(page, "warning", /No ticket: 503/);
    await product.stop();
    await refused;
    const again = line(page, "log", /^\d+ \d+\.\d+ \d+\.\d+$/);
    product = await product.restart();
    await again;
    await page.close();
  },
  BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS,
);
