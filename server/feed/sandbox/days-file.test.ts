import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { createAlignment } from "#lib/domain/timeframe";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_S } from "#lib/units";
import { makeBlocksHere } from "./block-maker";
import { createBlockStore } from "./block-store";
import { readDays, writeDays } from "./days-file";
import { createSandboxKlines } from "./klines";
import { createSandboxPrices } from "./prices";

const NOW_MS = Date.UTC(2026, 10, 21, 5, 13, 27);
const TICKERS = ["EURUSD", "TESTFX"];
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-days-"));
  file = path.join(folder, "sandbox-days.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a start reads, and how many blocks of which tickers had to be computed for it. */
async function start({ seed = 1, catalogue = createSandboxCatalogue() } = {}) {
  const computed: string[] = [];
  const { make } = makeBlocksHere();
  const store = createBlockStore(
    {
      make(inputs, name) {
        computed.push(inputs.listing.ticker);
        return make(inputs, name);
      },
    },
    await readDays(folder),
  );
  const prices = createSandboxPrices({ catalogue, seed });
  const klines = createSandboxKlines({ prices, clock: manualClock(NOW_MS), alignment: createAlignment(), blocks: store });
  const from = NOW_MS / 1000 - 40 * DAY_S;
  const read = (ticker: string) => klines.read({ ticker, timeframe: "D1", from, to: NOW_MS / 1000, limit: 100, end: "newest" });
  const rows = await Promise.all(TICKERS.map(read));
  await writeDays(folder, store.days());
  return { rows, computed: [...new Set(computed)] };
}

describe("days kept for the next start", () => {
  test("a second start computes no trading day and has the same klines", async () => {
    const first = await start();
    const second = await start();
    expect(first.computed).toEqual(TICKERS);
    expect(second.computed).toEqual([]);
    expect(second.rows).toEqual(first.rows);
    expect(readdirSync(folder)).toEqual([path.basename(file)]);
  });

  test("days of another seed are computed again", async () => {
    await start();
    expect((await start({ seed: 2 })).computed).toEqual(TICKERS);
  });

  test("days of an edited listing are computed again, and no others", async () => {
    await start();
    const catalogue = createSandboxCatalogue();
    catalogue.put({ ...(catalogue.find("EURUSD") ?? expect.fail("no listing")), digits: 4 });
    expect((await start({ catalogue })).computed).toEqual(["EURUSD"]);
  });

  test("days of a ticker whose calendar was overridden are computed again, and no others", async () => {
    await start();
    const catalogue = createSandboxCatalogue();
    catalogue.override("forex", [{ state: "closed", fromMs: NOW_MS - 7_200_000, untilMs: null }]);
    expect((await start({ catalogue })).computed).toEqual(["TESTFX"]);
  });

  test.each<[string, (text: string) => string]>([
    ["cut off", (text) => text.slice(0, -100)],
    ["changed in one price", (text) => text.replace(/":"AA/, '":"AB').replace(/":"([B-Z])/, '":"A')],
    ["empty", () => ""],
    ["of another version", (text) => text.replace('"version":1', '"version":0')],
    ["of another shape", () => '{"version":1,"checksum":"","days":[]}'],
  ])("a file that is %s is not used, and replaced", async (_, damage) => {
    await start();
    const text = readFileSync(file, "utf8");
    expect(damage(text)).not.toBe(text);
    writeFileSync(file, damage(text));
    expect((await start()).computed).toEqual(TICKERS);
    expect((await start()).computed).toEqual([]);
  });

  test("a folder that cannot be written leaves nothing behind", async () => {
    const nowhere = path.join(file, "inside");
    writeFileSync(file, "not a folder");
    await expect(writeDays(nowhere, new Map())).rejects.toThrow();
    expect(await readDays(nowhere)).toEqual(new Map());
    expect(readdirSync(folder)).toEqual([path.basename(file)]);
  });
});
