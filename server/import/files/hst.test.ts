import { expect, test } from "vitest";
import { at, readFile } from "#server/testing/import-rows";
import { hstText } from "./hst";

/** The header of a history file. */
function header(version: 400 | 401, period: number, symbol = "EURUSD"): Buffer {
  const bytes = Buffer.alloc(148);
  bytes.writeUInt32LE(version, 0);
  bytes.write("(C)opyright 2003, MetaQuotes Software Corp.", 4, "latin1");
  bytes.write(symbol, 68, "latin1");
  bytes.writeUInt32LE(period, 80);
  bytes.writeUInt32LE(5, 84);
  return bytes;
}

const TIME = "2014-05-01T00:00:00Z";
/** Open, high, low, close. */
const PRICES = [1.38676, 1.38686, 1.38669, 1.3868500000000001] as const;

function record400(time: string): Buffer {
  const bytes = Buffer.alloc(44);
  const [open, high, low, close] = PRICES;
  bytes.writeUInt32LE(at(time) / 1000, 0);
  for (const [index, value] of [open, low, high, close, 42].entries()) bytes.writeDoubleLE(value, 4 + 8 * index);
  return bytes;
}

function record401(time: string, spread = 0, volume = 0n): Buffer {
  const bytes = Buffer.alloc(60);
  bytes.writeBigInt64LE(BigInt(at(time) / 1000), 0);
  for (const [index, value] of PRICES.entries()) bytes.writeDoubleLE(value, 8 + 8 * index);
  bytes.writeBigInt64LE(42n, 40);
  bytes.writeInt32LE(spread, 48);
  bytes.writeBigInt64LE(volume, 52);
  return bytes;
}

async function textOf(...parts: Buffer[]): Promise<string> {
  const bytes = Buffer.concat(parts);
  async function* pieces() {
    for (let from = 0; from < bytes.length; from += 37) yield bytes.subarray(from, from + 37);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of hstText(pieces())) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const KLINE = { timeMs: at(TIME), open: 1.38676, high: 1.38686, low: 1.38669, close: 1.38685, tickVolume: 42 };

test.each([
  ["400", () => [header(400, 1), record400(TIME), record400("2014-05-01T00:01:00Z")]],
  ["401", () => [header(401, 1), record401(TIME), record401("2014-05-01T00:01:00Z")]],
])("records of version %s are klines on the clock of the server, with an unknown spread where it is 0", async (_, parts) => {
  const file = await readFile("EURUSD1.hst", await textOf(...parts()));
  expect(file).toMatchObject({ format: "hst", kind: "klines", malformed: [], refusal: null });
  expect(file.clock).toMatchObject({ detect: { likely: ["EET", "NY+7", "UTC", "CET", "Europe/London"] } });
  expect(file.sample).toMatchObject({ symbol: "EURUSD", spacing: { timeframe: "M1" }, decimals: 5, wholePrices: false });
  expect(file.rows).toEqual([KLINE, { ...KLINE, timeMs: KLINE.timeMs + 60_000 }]);
});

test("spread in points and real volume are read where they are known", async () => {
  const file = await readFile("x.hst", await textOf(header(401, 1), record401(TIME, 12, 5n)), { spreadDigits: 5 });
  expect(file.rows).toEqual([{ ...KLINE, spread: 0.00012, realVolume: 5 }]);
  expect(file.sample.values.spread).toMatchObject({ stated: 1, known: 1, broken: 0 });
});

test.each([
  [60, "H1"],
  [1440, "D1"],
  [43_200, "MN1"],
])("a single record of a period of %i minutes is of %s, which the header states", async (period, timeframe) => {
  const file = await readFile("x.hst", await textOf(header(400, period), record400(TIME)));
  expect(file.sample.spacing.timeframe).toBe(timeframe);
});

test("a period of its own is refused, and a file that is cut off after the records before it", async () => {
  expect((await readFile("x.hst", await textOf(header(400, 7), record400(TIME)))).refusal).toContain("klines of 7 minutes");
  await expect(textOf(header(400, 1), record400(TIME), record400(TIME).subarray(0, 20))).rejects.toThrow(
    "cut off in record 2: copy it again",
  );
  const digits = header(400, 1);
  digits.writeUInt32LE(77, 84);
  await expect(textOf(digits)).rejects.toThrow("prices have 77 digits");
});

test("symbols that brokers lengthen are found", async () => {
  expect((await readFile("x.hst", await textOf(header(400, 1, "EURUSDm"), record400(TIME)))).sample.symbol).toBe("EURUSDm");
});
