import { test as base, expect, onTestFinished } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import type { HealthReport, NodeHealth } from "#lib/contract/portal-health";
import { compileCalendar } from "#lib/domain/calendar";
import type { Tick } from "#lib/domain/tick";
import { createLog } from "#lib/log";
import { statusAt } from "#lib/market/status";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import type { MarketFeed } from "#server/feed/feed";
import { createUpstreamWatch } from "#server/feed/upstream/state";
import { matchSymbols } from "#server/feed/upstream/symbols";
import { type RunningMarket, startMarket } from "#server/market/market";
import { feedHealth } from "#server/store/market/health";
import { createHealthReport } from "#server/store/market/health-report";
import { createMemoryKlines } from "#server/testing/memory-klines";
import { checksOf, summaryOf } from "../../components/admin/health-checks";
import { headlineOf } from "../../components/status/headline";
import { startReadiness } from "./readiness";

const NOW_MS = Date.UTC(2026, 0, 7, 12);
const log = createLog("silent");
/** Open for ten minutes yet, then closed. */
const CALENDAR = compileCalendar({ kind: "cycle", anchorS: (NOW_MS - HOUR_MS) / 1_000, openS: 4_200, closedS: 7_200 }, []);

/** The instruments that a new installation lists, without test tickers. */
function catalogueOf() {
  const { list, find, instrument } = createSandboxCatalogue();
  const listings = list().filter(({ assetClass }) => assetClass !== "test");
  return { list: () => listings, find, instrument, calendar: () => CALENDAR };
}

/** A provider that lists all instruments but the last one, and sends a price of each that it lists every half minute. */
function providerOf(catalogue: ReturnType<typeof catalogueOf>, clock: ManualClock, silent: ReadonlySet<string>): MarketFeed {
  const declares = {
    stream: { kind: "every" },
    clock: "source",
    sides: "both",
    idleMs: 10_000,
    terms: { text: "", url: "" },
  } as const;
  const upstream = { name: "oanda", declares };
  const watch = createUpstreamWatch({ upstream, calendarOf: catalogue.calendar, isListed: () => true, nowMs: NOW_MS });
  const offered = catalogue.list().slice(0, -1);
  return {
    name: "oanda",
    keepsTime: false,
    offers: watch.offers,
    providers: () => [{ ...watch.report(clock.now()), repairs: null }],
    open: ({ connected }) =>
      async function* feed(signal) {
        const symbols = offered.map(({ ticker }) => ({ symbol: ticker }));
        watch.matched(matchSymbols(catalogue.list(), symbols, new Map()), symbols, clock.now());
        connected();
        while (!signal.aborted) {
          const ticks = offered
            .filter(({ ticker }) => !silent.has(ticker))
            .map(({ ticker }): Tick => ({ ticker, time_msc: clock.now(), bid: 1.1, ask: 1.1001 }));
          yield ticks;
          await clock.wait(30 * SECOND_MS, signal);
        }
      },
  };
}

interface Scene {
  readonly market: RunningMarket;
  readonly clock: ManualClock;
  readonly unoffered: string;
  /** Tickers whose prices stop. */
  readonly silent: Set<string>;
  /** What each reader of the state of the service says. */
  says(): Promise<{ ready: Record<string, string | null>; headline: string; admin: string; metrics: [number, number, number] }>;
}

const test = base.extend<{ scene: Scene }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of what is asked for here
  scene: async ({}, use) => {
    const clock = manualClock(NOW_MS);
    const catalogue = catalogueOf();
    const silent = new Set<string>();
    const market = await startMarket({
      venue: "live",
      files: memoryFiles(),
      store: createMemoryKlines(),
      acceptsPush: false,
      provider: "oanda",
      feed: providerOf(catalogue, clock, silent),
      catalogue,
      clock,
      log,
      metrics: createMetrics(),
    });
    const markets = { live: market, sandbox: { ...market, venue: "sandbox" as const, provider: null } };
    const pool = { query: async () => ({ rows: [] }) } as never;
    const readiness = startReadiness({
      db: { pool },
      redis: undefined,
      markets,
      disk: { problem: () => null },
      history: { problem: () => null },
      draining: () => false,
      clock,
    });
    onTestFinished(readiness.stop);
    const ready = async () => readiness.read();
    await use({
      market,
      clock,
      silent,
      unoffered: catalogue.list().at(-1)?.ticker ?? "",
      async says() {
        const { checks } = readiness.read();
        const status = { ...(await createHealthReport()({ markets, db: { pool }, clock, log, ready })), history: {} as never };
        const node = { name: "node", silent: false, age_ms: 0, checks, disk: null } as unknown as NodeHealth;
        const backups = { last: null, failed: null, max_age_s: 0 };
        const report = { at_ms: clock.now(), nodes: [node], checked: null, notes: [], backups } as unknown as HealthReport;
        const { expected, fresh, unoffered } = feedHealth(market, clock.now());
        return {
          ready: Object.fromEntries(Object.entries(checks).filter(([, problem]) => problem !== null)),
          headline: headlineOf({ status, tookMs: 1, trouble: undefined }, { by: "page" }, []).title,
          admin: summaryOf(checksOf(report)),
          metrics: [expected, fresh, unoffered],
        };
      },
    });
    await market.stop();
  },
});

const WELL = { ready: {}, headline: "Operational", admin: "Everything works." };

test("one instrument that the provider does not offer is no fault: every reader of the state says that the service is well", async ({
  scene: { market, clock, unoffered, says },
}) => {
  await clock.advance(6 * MINUTE_MS);
  const count = market.catalogue.list().length;
  expect(count).toBe(54);
  expect(await says()).toEqual({ ...WELL, metrics: [53, 53, 1] });
  const listing = market.catalogue.find(unoffered);
  if (listing === undefined) throw new Error(`no ${unoffered}`);
  const status = statusAt({ market, nowMs: clock.now() }, listing);
  expect(status).toMatchObject({ calendar_state: "open", final_display_state: "not_offered", reason: "not_offered" });
  expect(market.standing().unoffered).toEqual([unoffered]);
});

test("an offered instrument without fresh prices degrades the service while its market is open, for every reader at once", async ({
  scene: { clock, silent, says },
}) => {
  await clock.advance(MINUTE_MS);
  silent.add("EURUSD");
  await clock.advance(2 * MINUTE_MS);
  const problem = "1 of 53 open instruments have no fresh price: EURUSD";
  const behind = { ready: { prices_live: problem }, headline: "Degraded", admin: "One check fails.", metrics: [53, 52, 1] };
  expect(await says()).toEqual(behind);
  await clock.advance(8 * MINUTE_MS);
  expect(await says()).toEqual({ ...WELL, metrics: [0, 0, 1] });
});

test("an instrument is offered once it was pushed; before anything was, all may be", async () => {
  const clock = manualClock(NOW_MS);
  const catalogue = catalogueOf();
  const settings = { venue: "live", acceptsPush: true, provider: "push", files: memoryFiles(), clock, log } as const;
  const market = await startMarket({ ...settings, store: createMemoryKlines(), catalogue, metrics: createMetrics() });
  const offered = () => ["EURUSD", "XAUUSD"].filter(market.isOffered);
  expect(offered()).toEqual(["EURUSD", "XAUUSD"]);
  await market.leader.push([{ ticker: "EURUSD", time_msc: clock.now(), bid: 1.1, ask: 1.1001 }]);
  expect(offered()).toEqual(["EURUSD"]);
  await market.leader.push([{ ticker: "XAUUSD", time_msc: clock.now(), bid: 4_000, ask: 4_001 }]);
  expect(offered()).toEqual(["EURUSD", "XAUUSD"]);
  await market.stop();
});
