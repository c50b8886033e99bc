import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { zone } from "#lib/domain/zone";
import { missing } from "#lib/testing/packages";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { type AdvisorVersion, compileAdvisor, openTerminal } from "#server/testing/mt5/advisor";
import { expectMinutes, expectOrder, untaken } from "#server/testing/mt5/expectations";
import { type FeederService, script, startFeederService } from "#server/testing/mt5/feeder-service";
import { hourlyBars, makeTerminalMarket, type ServerOffset, type TerminalMarket, ticksOfCsv } from "#server/testing/mt5/market";
import { recordOf } from "#server/testing/mt5/record";

const SYMBOLS = [
  { symbol: "EURUSD", ticker: "EURUSD", digits: 5, points: 108_543 },
  { symbol: "GOLD.pro", ticker: "XAUUSD", digits: 2, points: 265_012 },
];
const TWO_HOURS: ServerOffset = () => 7_200;
/** Spares the minute in which the Expert Advisor makes sure of the offset. */
const KNOWN_OFFSET = { InpServerOffsetMinutes: 120 };
const TICKS = "/api/v1/ingest/ticks";
const at = (minutes: number, seconds = 0) => minutes * MINUTE_MS + seconds * SECOND_MS;
const alertsOf = (journal: readonly string[]) => journal.filter((line) => line.startsWith("ALERT "));

describe.skipIf(missing("g++") !== null)("the Expert Advisor, compiled with g++ and run against the service,", () => {
  let service: FeederService;
  let program: string;

  beforeAll(async () => {
    [program, service] = await Promise.all([compileAdvisor(), startFeederService()]);
  });
  afterAll(() => service?.close());

  interface Setting {
    readonly version?: AdvisorVersion;
    readonly inputs?: Readonly<Record<string, string | number>>;
    readonly offset?: ServerOffset;
    /** Of a scene that begins at this instant; some minutes of two symbols by default. */
    readonly marketAt?: (startMs: number) => TerminalMarket;
  }

  /** A scene an hour after the last one: some minutes of a market, and a terminal with the Expert Advisor. */
  function scene(minutes: number, { version = "whole", inputs = {}, offset = TWO_HOURS, marketAt }: Setting = {}) {
    const startMs = service.nextScene();
    const market = marketAt?.(startMs) ?? makeTerminalMarket(SYMBOLS, startMs - at(3), startMs + at(minutes));
    const usual = { InpUrl: `${service.url}/`, InpKey: service.key, InpIntervalMs: 1_000, InpCatchUpDays: 1 };
    const named = { ...usual, InpSymbols: "EURUSD, GOLD.pro=XAUUSD", ...inputs };
    const terminal = openTerminal({ program, version, market, offset, inputs: named });
    onTestFinished(terminal.close);
    return { startMs, endMs: startMs + at(minutes), market, terminal };
  }

  test("loses no tick, repeats none, keeps their order and fills all minutes, through errors, silence, a lost answer, a killed terminal and ten minutes without the service", async () => {
    const { startMs, market, terminal } = scene(21);
    service.fail(
      script(startMs, [
        [at(2, 2), at(2, 20), { status: 503 }],
        [at(3, 2), at(3, 12), { status: 429, retryAfterS: 3 }],
        [at(3, 30), at(3, 31), "silence"],
        [at(4, 20), at(4, 26), "lost"],
        [at(7, 30), at(17, 40), "broken"],
      ]),
    );
    const first = await terminal.run({ startMs, endMs: startMs + at(5, 30), killed: true });
    const second = await terminal.run({ startMs: startMs + at(5, 50), endMs: startMs + at(20, 30) });
    expectOrder(service.taken, market);
    // Ticks of the first minute and of the outage came too late: their minutes were sent instead.
    for (const minute of [2, 3, 4, 5, 6, 19])
      expect(untaken(service.taken, market, startMs, minute), `minute ${minute}`).toEqual([]);
    await expectMinutes(service, market, { fromMs: startMs - at(3), toMs: startMs + at(20) });

    expect(first.join("\n")).toContain("server time is 120 minutes ahead of UTC.");
    expect(first.join("\n")).toMatch(
      /2 symbols; ticks: \d+ sent, \d+ accepted; .*; server time 120 minutes ahead of UTC; newest tick/,
    );
    expect([...first, ...second].join("\n")).toContain("was answered with 503 A fault. Trying again.");
    expect(alertsOf([...first, ...second])).toEqual([]);
    const between = (from: number, to: number) =>
      service.requests.filter(({ atMs }) => atMs >= startMs + from && atMs < startMs + to);
    expect(between(at(3, 2), at(3, 12)).length, "requests within a Retry-After").toBeLessThanOrEqual(4);
    expect(between(at(8), at(17)).length, "requests of an outage").toBeLessThanOrEqual(40);
  });

  test.each(["whole", "from_next", "unconverted", "forgetful"] as const)(
    "is found out by these tests if it is broken on purpose: %s",
    async (version) => {
      const { startMs, endMs, market, terminal } = scene(2, { version, inputs: KNOWN_OFFSET });
      service.fail(script(startMs, [[at(1, 2), at(1, 20), { status: 503 }]]));
      const journal = await terminal.run({ startMs, endMs });
      const lost = untaken(service.taken, market, startMs, 1);
      if (version === "whole") expect(lost).toEqual([]);
      else expect(lost.length).toBeGreaterThan(0);
      if (version === "unconverted") expect(alertsOf(journal).join()).toContain("all ticks are in the future");
    },
  );

  test("halves a batch that is too large, and loses nothing", async () => {
    const { startMs, endMs, market, terminal } = scene(2, { inputs: KNOWN_OFFSET });
    service.fail(({ path, body }) => (path === TICKS && body.split("\n").length > 9 ? { status: 413 } : undefined));
    await terminal.run({ startMs, endMs });
    expect(service.requests.some(({ status }) => status === 413)).toBe(true);
    expect(untaken(service.taken, market, startMs, 1)).toEqual([]);
    expectOrder(service.taken, market);
  });

  test("sends the ticks and minutes that contract.test.ts posts", async () => {
    const symbol = { symbol: "AUDUSD", ticker: "AUDUSD", digits: 5, points: 68_577 };
    const inputs = { ...KNOWN_OFFSET, InpSymbols: symbol.symbol };
    const real = readFileSync(path.join(import.meta.dirname, "copy-ticks-AUDUSD.csv"), "utf8");
    const ticks = scene(1, {
      inputs,
      marketAt: (startMs) => ({ ticks: ticksOfCsv(real, symbol, startMs + at(0, 2)), bars: [] }),
    });
    await ticks.terminal.run(ticks);
    await expect(recordOf(service.requests, ticks.startMs)).toMatchFileSnapshot("recorded-ticks.json");
    const past = (startMs: number) => ({ ...makeTerminalMarket([symbol], startMs - at(3), startMs), ticks: [] });
    const minutes = scene(1, { inputs, marketAt: past });
    await minutes.terminal.run(minutes);
    await expect(recordOf(service.requests, minutes.startMs)).toMatchFileSnapshot("recorded-minutes.json");
  });

  test.each([
    ["plain HTTP to another machine", { InpUrl: "http://market.example.com" }, "InpUrl must begin with https://"],
    ["a host that only begins like this one", { InpUrl: "http://localhost.example.com" }, "InpUrl must begin with https://"],
    ["no key", { InpKey: "" }, "InpKey must be a key of the live venue"],
    ["a symbol that is no ticker", { InpSymbols: "GOLD.pro" }, "InpSymbols: GOLD.pro is not a ticker"],
    ["no symbol", { InpSymbols: " , " }, "InpSymbols names no symbol"],
    ["an impossible offset", { InpServerOffsetMinutes: 900 }, "InpServerOffsetMinutes must be"],
    ["too short a pause", { InpIntervalMs: 10 }, "InpIntervalMs must be"],
  ])("refuses %s, and says so", async (_, inputs, says) => {
    const { startMs, endMs, terminal } = scene(1, { inputs });
    expect(alertsOf(await terminal.run({ startMs, endMs })).join()).toContain(says);
    expect(service.requests).toEqual([]);
  });

  test("refuses the strategy tester", async () => {
    const { startMs, endMs, terminal } = scene(1);
    expect((await terminal.run({ startMs, endMs, inTester: true })).join()).toContain("does not run in the strategy tester");
    expect(service.requests).toEqual([]);
  });

  test("says once that the terminal does not allow the address, with the address", async () => {
    const { startMs, endMs, terminal } = scene(2, { inputs: KNOWN_OFFSET });
    const journal = await terminal.run({ startMs, endMs, disallowed: true });
    expect(journal.filter((line) => line.includes(`allow WebRequest and add ${service.url}`))).toHaveLength(1);
  });

  test("tries a refused key once a minute, with an alert each time", async () => {
    const { startMs, terminal } = scene(3, { inputs: { ...KNOWN_OFFSET, InpKey: "sw_live_unknown" } });
    // Between two tries: at the end of a minute, the next one may be sent and its answer no longer be read.
    const alerts = alertsOf(await terminal.run({ startMs, endMs: startMs + at(2, 30) }));
    expect(alerts).toHaveLength(3);
    expect(alerts[0]).toMatch(/the service refuses the key: .+ Next try in a minute\./);
    expect(service.requests.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  test("names symbols that the terminal or the service does not have, and sends the others", async () => {
    const InpSymbols = "EURUSD,GOLD.pro=NOSUCH,Absent=USDJPY";
    const { startMs, endMs, market, terminal } = scene(2, { inputs: { ...KNOWN_OFFSET, InpSymbols } });
    const alerts = alertsOf(await terminal.run({ startMs, endMs })).join("\n");
    expect(alerts).toContain("the service has no instrument NOSUCH");
    expect(alerts).toContain("this terminal has no symbol Absent");
    const only = { ...market, ticks: market.ticks.filter(({ symbol }) => symbol === "EURUSD") };
    expect(untaken(service.taken, only, startMs, 1)).toEqual([]);
  });

  test("sends nothing while the clock of the computer is ten minutes ahead", async () => {
    const { startMs, endMs, terminal } = scene(3);
    const journal = await terminal.run({ startMs, endMs, clockErrorS: 600 });
    expect(alertsOf(journal).join()).toMatch(/server time minus 105 minutes is (899|900) seconds ahead of the service/);
    expect(service.requests.filter(({ method }) => method === "POST")).toEqual([]);
  });

  test.each([
    ["EET", "EURUSD", "Europe/Athens", 0],
    ["New York + 7", "GBPUSD", "America/New_York", 7 * HOUR_MS],
  ] as const)(
    "finds out that past minutes are on %s time, in the weeks in which Europe and the US differ",
    async (_, ticker, name, aheadMs) => {
      const server = zone(name);
      const offset: ServerOffset = (utcMs) => (server.offsetAt(utcMs) + aheadMs) / SECOND_MS;
      // Two days after Europe's summer time began, and three weeks after that of the US.
      service.set(Math.max(service.now(), Date.UTC(2026, 2, 31, 12)));
      const fromMs = Date.UTC(2026, 2, 3);
      const market = {
        ticks: [],
        bars: hourlyBars({ symbol: ticker, ticker, digits: 5, points: 108_000 }, fromMs, service.now()),
      };
      const { startMs, endMs, terminal } = scene(3, {
        marketAt: () => market,
        offset,
        inputs: { InpSymbols: ticker, InpCatchUpDays: 30 },
      });
      expect(alertsOf(await terminal.run({ startMs, endMs }))).toEqual([]);
      await expectMinutes(service, market, { fromMs, toMs: fromMs + 27 * DAY_MS });
    },
  );
});
