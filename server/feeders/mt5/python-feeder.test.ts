import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { zone } from "#lib/domain/zone";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { expectMinutes, expectOrder, untaken } from "#server/testing/mt5/expectations";
import { type FeederService, script, startFeederService } from "#server/testing/mt5/feeder-service";
import { hourlyBars, makeTerminalMarket, type ServerOffset, type TerminalMarket, ticksOfCsv } from "#server/testing/mt5/market";
import { hasPython, openPythonFeeder } from "#server/testing/mt5/python-feeder";

const SYMBOLS = [
  { symbol: "EURUSD", ticker: "EURUSD", digits: 5, points: 108_543 },
  { symbol: "GOLD.pro", ticker: "XAUUSD", digits: 2, points: 265_012 },
];
const TWO_HOURS: ServerOffset = () => 7_200;
const KNOWN_OFFSET = ["--server-offset-minutes", "120"];
const at = (minutes: number, seconds = 0) => minutes * MINUTE_MS + seconds * SECOND_MS;

describe.skipIf(!hasPython())("the Python feeder, run against the service,", () => {
  let service: FeederService;

  beforeAll(async () => {
    service = await startFeederService();
  });
  afterAll(() => service?.close());

  interface Setting {
    readonly market: TerminalMarket;
    readonly symbols?: string;
    readonly args?: readonly string[];
    readonly offset?: ServerOffset;
    readonly key?: string;
  }

  function feeder({ market, symbols = "EURUSD, GOLD.pro=XAUUSD", args = [], offset = TWO_HOURS, key = service.key }: Setting) {
    const usual = ["--url", service.url, "--symbols", symbols, "--interval-ms", "1000", "--catch-up-days", "1"];
    const made = openPythonFeeder({ market, offset, key, args: [...usual, ...args] });
    onTestFinished(made.close);
    return made;
  }

  test("loses no tick, repeats none, keeps their order and fills all minutes, through errors, a lost answer, a restart and minutes without the service", async () => {
    const startMs = service.nextScene();
    const market = makeTerminalMarket(SYMBOLS, startMs - at(3), startMs + at(12));
    const made = feeder({ market });
    service.fail(
      script(startMs, [
        [at(2, 5), at(2, 20), { status: 503 }],
        [at(3, 2), at(3, 12), { status: 429, retryAfterS: 3 }],
        [at(3, 30), at(3, 34), "lost"],
        [at(5, 30), at(8, 40), "broken"],
      ]),
    );
    const first = await made.run({ startMs, endMs: startMs + at(4, 20) });
    expect(made.marks()).toMatchObject({ EURUSD: { skip: expect.any(Number), gap: 0 }, offset: 7_200 });
    const second = await made.run({ startMs: startMs + at(4, 30), endMs: startMs + at(11, 30) });
    expectOrder(service.taken, market);
    for (const minute of [2, 3, 4, 10]) expect(untaken(service.taken, market, startMs, minute), `minute ${minute}`).toEqual([]);
    await expectMinutes(service, market, { fromMs: startMs - at(3), toMs: startMs + at(11) });
    expect(first).toContain("Server time is 120 minutes ahead of UTC.");
    expect(second).toMatch(/2 symbols; ticks: \d+ sent, \d+ accepted; .*; server time 120 minutes ahead of UTC; newest tick/);
    expect(first + second).not.toContain("ALERT");
  });

  test("sends ticks of a real terminal as they are, two of one millisecond included", async () => {
    const startMs = service.nextScene();
    const csv = readFileSync(path.join(import.meta.dirname, "copy-ticks-AUDUSD.csv"), "utf8");
    const market = { ticks: ticksOfCsv(csv, { symbol: "AUDUSD", ticker: "AUDUSD" }, startMs + at(0, 5)), bars: [] };
    await feeder({ market, symbols: "AUDUSD", args: KNOWN_OFFSET }).run({ startMs, endMs: startMs + at(1, 10) });
    expect(market.ticks).toHaveLength(10);
    expect(untaken(service.taken, market, startMs, 0)).toEqual([]);
    expectOrder(service.taken, market);
  });

  test("finds out that past minutes are on New York + 7 time, in the weeks in which Europe and the US differ", async () => {
    const server = zone("America/New_York");
    const offset: ServerOffset = (utcMs) => (server.offsetAt(utcMs) + 7 * HOUR_MS) / SECOND_MS;
    service.set(Math.max(service.now(), Date.UTC(2026, 2, 31, 12)));
    const fromMs = Date.UTC(2026, 2, 3);
    const bars = hourlyBars({ symbol: "GBPUSD", ticker: "GBPUSD", digits: 5, points: 108_000 }, fromMs, service.now());
    const startMs = service.nextScene();
    const args = ["--server-offset-minutes", "180", "--catch-up-days", "30"];
    await feeder({ market: { ticks: [], bars }, symbols: "GBPUSD", args, offset }).run({ startMs, endMs: startMs + at(2) });
    await expectMinutes(service, { ticks: [], bars }, { fromMs, toMs: fromMs + 27 * DAY_MS });
  });

  test("sends nothing while the clock of the computer is wrong", async () => {
    const startMs = service.nextScene();
    const market = makeTerminalMarket(SYMBOLS, startMs, startMs + at(2));
    const said = await feeder({ market, args: KNOWN_OFFSET }).run({ startMs, endMs: startMs + at(2), clockErrorS: 600 });
    expect(said).toMatch(/ALERT The clock of this computer is (599|600) seconds ahead of the service/);
    expect(service.requests.filter(({ method }) => method === "POST")).toEqual([]);
  });

  test.each([
    ["plain HTTP to another machine", { args: ["--url", "http://market.example.com"] }, "must begin with https://"],
    ["no key", { key: "" }, "set the variable SPOTWIRE_KEY"],
    ["a symbol that is no ticker", { symbols: "GOLD.pro" }, "GOLD.pro is not a ticker"],
    ["an impossible offset", { args: ["--server-offset-minutes", "900"] }, "must be between -840 and 840"],
  ])("refuses %s, and says so", async (_, setting, says) => {
    const startMs = service.nextScene();
    const said = await feeder({ market: { ticks: [], bars: [] }, ...setting }).run({ startMs, endMs: startMs + at(1) });
    expect(said).toContain(says);
    expect(service.requests).toEqual([]);
  });
});
