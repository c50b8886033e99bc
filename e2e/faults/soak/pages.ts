import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { BROWSER_TIMEOUT_MS, openBrowser } from "../../browser";
import { makeKey, runCommand } from "../../commands";
import { startBystander } from "../../hostile/bystander";
import { type Mailbox, openMailbox, tokenIn } from "../../mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "../../server";
import { createVisitor, type Visitor } from "../../visitor";
import { type Loop, publicPages, startBrowsing, startDeveloper, startOperator, startReader, startStreams } from "./visits";

const EMAIL = "ada@example.test";
const OPERATOR = "operator@example.test";
const PASSWORD = "correct horse battery";
const SAMPLES_COUNT = 20;
/** Memory is compared with what it was after this part of the soak: the second minute of ten. */
const WARM_SHARE = 0.2;
const GROWTH_MAX = 1.2;
const RESIDENT_MAX_MIB = 600;
const MIB = 1_048_576;

const READERS_COUNT = 4;
const READER_PAUSE_MS = 100;
const DEVELOPER_PAUSE_MS = 5_000;
const OPERATOR_PAUSE_MS = 10_000;
const BROWSING_PAUSE_MS = 5_000;
const STREAMS_COUNT = 20;
const TICKERS = ["EURUSD", "GBPUSD", "USDJPY", "XAUUSD", "XAGUSD", "AUDUSD", "USDCAD", "USDCHF"];

let product: Product;
let browser: Browser;
let mailbox: Mailbox;

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" }), openBrowser()]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

/** Resident memory of both processes, MiB. */
async function residentMemory(): Promise<{ market: number; portal: number }> {
  const text = await (await fetch(`${product.baseUrl}/metrics`)).text();
  const of = (name: string) => Math.round(Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]) / MIB);
  return { market: of("process_resident_memory_bytes"), portal: of("spotwire_portal_process_resident_memory_bytes") };
}

async function newAccount(email: string, address: string): Promise<Visitor> {
  const visitor = createVisitor(product.baseUrl, address);
  await visitor.call("POST", "sign-up", { email, password: PASSWORD });
  const token = tokenIn(await mailbox.nextLink(email, "/verify"));
  await visitor.call("POST", "verify", { token });
  return visitor;
}

test("memory stays flat while pages are read, people sign in, the playground is used and streams are followed", async () => {
  const soakMs = inject("soakS") * 1000;
  const ada = await newAccount(EMAIL, "203.0.113.9");
  const operator = await newAccount(OPERATOR, "203.0.113.10");
  await operator.signIn(OPERATOR, PASSWORD);
  await runCommand(product, "admin", ["grant", OPERATOR]);
  await operator.addApp();
  const { text: key } = await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream" });
  const pages = await publicPages(product.baseUrl);

  const streams = await startStreams(product, key, TICKERS, STREAMS_COUNT);
  const bystander = startBystander(product.baseUrl, key);
  const readers = Array.from({ length: READERS_COUNT }, (_, reader) => startReader(product, pages, reader, READER_PAUSE_MS));
  const developer = startDeveloper(product, ada, EMAIL, PASSWORD, DEVELOPER_PAUSE_MS);
  const browsing = startBrowsing(product, browser, BROWSING_PAUSE_MS);
  const operating = startOperator(product, operator, OPERATOR_PAUSE_MS);
  const loops: Loop[] = [...readers, developer, operating, browsing];
  const read = () => readers.reduce((sum, reader) => sum + reader.count(), 0);

  const startMs = Date.now();
  const samples: { atS: number; market: number; portal: number }[] = [];
  for (let sample = 1; sample <= SAMPLES_COUNT; sample += 1) {
    const atMs = startMs + (sample * soakMs) / SAMPLES_COUNT;
    const before = streams.updates();
    await new Promise((resolve) => setTimeout(resolve, atMs - Date.now()));
    const memory = await residentMemory();
    const atS = Math.round((atMs - startMs) / 1000);
    samples.push({ atS, ...memory });
    expect(streams.updates(), `updates until ${atS} s`).toBeGreaterThan(before);
    process.stdout.write(
      `${String(atS).padStart(5)} s  market ${memory.market} MiB, portal ${memory.portal} MiB; ${read()} pages of ${pages.length}, ` +
        `${developer.count()} sign-ins, ${browsing.count()} browsers, ${streams.updates()} updates\n`,
    );
  }
  await Promise.all(loops.map((loop) => loop.end()));
  await streams.close();
  const seen = await bystander.stop();
  process.stdout.write(`${seen.answers} quotes asked for, the slowest in ${Math.round(seen.worstMs)} ms\n`);

  expect(loops.flatMap(({ problems }) => problems)).toEqual([]);
  expect(seen.wrong).toEqual([]);
  const warm = samples[Math.ceil(SAMPLES_COUNT * WARM_SHARE) - 1];
  const last = samples.at(-1);
  for (const name of ["market", "portal"] as const) {
    expect(last?.[name], name).toBeLessThanOrEqual(GROWTH_MAX * (warm?.[name] ?? 0));
    expect(last?.[name], name).toBeLessThan(RESIDENT_MAX_MIB);
  }
});
