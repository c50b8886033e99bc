import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEBIAN_PYTHON, missing } from "#lib/testing/packages";
import { makeKey } from "./commands";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const GUIDE = new URL("../lib/docs/guides/csv.mdx", import.meta.url);
const SAMPLE = /^```python norun\n([\s\S]*?)^```$/gm;
const RUN_MAX_MS = 180_000;
const ABSENT = missing("python3-pandas");

let product: Product;
let key: string;

beforeAll(async () => {
  product = await startProduct(API_ONLY);
  key = (await makeKey(product, { venue: "sandbox", scopes: "market:read" })).text;
}, SERVER_TIMEOUT_MS);
afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

/** Runs the guide's samples with pandas as a reader would, and more lines after each. */
async function pandas(sample: number, more: string): Promise<string> {
  const samples = [...readFileSync(GUIDE, "utf8").matchAll(SAMPLE)];
  const code = `${samples[sample]?.[1]}\n${more}`
    .replaceAll(/sw_test_DEMO\w+/g, () => key)
    .replaceAll("http://localhost:3000", () => product.baseUrl);
  const { stdout } = await promisify(execFile)(DEBIAN_PYTHON, ["-c", code], { timeout: RUN_MAX_MS });
  return stdout;
}

test("five thousand rows are the same in every coding, and to a client of HTTP/1.0", async () => {
  const path = "/api/v1/market/klines?ticker=EURUSD&timeframe=M1&limit=5000&to=2026-03-01T00:00:00Z&format=csv";
  const read = async (coding: string) => {
    const headers = { authorization: `Bearer ${key}`, "accept-encoding": coding };
    const response = await fetch(product.baseUrl + path, { headers });
    return { coding: response.headers.get("content-encoding"), text: await response.text() };
  };
  // The first one can meet a connection that fetch kept of an earlier service on this port.
  await expect.poll(async () => (await read("identity")).text.trimEnd().split("\r\n").length).toBe(5_001);
  const { text: plain } = await read("identity");
  for (const coding of ["gzip", "br"]) expect(await read(coding)).toEqual({ coding, text: plain });
  const { port, host } = new URL(product.baseUrl);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`GET ${path} HTTP/1.0\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  expect((await text(socket)).split("\r\n\r\n")[1]).toBe(plain);
});

test("pandas reads klines with a key in a header, as numbers by UTC time", { timeout: 2 * RUN_MAX_MS }, async ({ skip }) => {
  skip(ABSENT !== null, ABSENT ?? "");
  const seen = await pandas(0, `print(len(klines), klines.index.tz, klines.close.dtype, klines.tick_volume.dtype)`);
  expect(seen).toMatch(/\n500 UTC float64 int64\n$/);
});

test("pandas reads every page by its link, without a row twice", { timeout: 2 * RUN_MAX_MS }, async ({ skip }) => {
  skip(ABSENT !== null, ABSENT ?? "");
  // The sandbox is always open: 59 days of hours in pages of 1000.
  const seen = await pandas(1, "print(klines.index.is_unique, klines.index.is_monotonic_increasing)");
  expect(seen).toBe("1416 2026-01-01 00:00:00+00:00 2026-02-28 23:00:00+00:00\nTrue True\n");
});
