import { vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import type { ConnectionReport } from "#lib/contract/portal-feeds";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Tick } from "#lib/domain/tick";
import { createMetrics } from "#lib/metrics";
import { collectingLog } from "#lib/testing/collecting-log";
import { superviseFeed } from "#server/feed/supervise";
import type { Upstream } from "#server/feed/upstream/port";
import { upstreamFeed } from "#server/feed/upstream/runner";
import { createUpstreamWatch } from "#server/feed/upstream/state";
import type { FarSide, Peer } from "./far-side";

/** A price in the far side's own words. Null is a side that the message does not hold. */
export interface Said {
  readonly ticker: "EURUSD" | "XAUUSD";
  readonly timeMs: number;
  readonly bid: number | null;
  readonly ask: number | null;
}

/** What the suite needs of a wire format. */
export interface Wire {
  farSide(): Promise<FarSide>;
  upstream(farSide: FarSide): Upstream;
  price(said: Said): string;
  heartbeat: string;
  /** Well-formed messages that are no quote, by what is wrong with them. */
  readonly unused: Readonly<Record<string, string>>;
  /** A text that a far side repeats in a message and in its errors. */
  readonly secret: string;
  /** A message of the far side that repeats a text; JSON where there is none. */
  echo?(text: string): string;
  /** False where the connection does not begin with HTTP, so that there are no statuses. */
  readonly speaksHttp?: false;
}

/** What the cases of a suite share. */
export interface Scene {
  readonly wire: Wire;
  /** The far side of this test. */
  far(): FarSide;
  begin(take?: Parameters<typeof start>[1], upstream?: Upstream, calendar?: Calendar): Run;
}

/** Not the time of the far side, so that a tick stamped here is found out. */
export const NOW_MS = Date.UTC(2026, 0, 7, 12);
const TIME_MS = NOW_MS - 1_500;
const LISTINGS = SANDBOX_LISTINGS.filter(({ ticker }) => ticker === "EURUSD" || ticker === "XAUUSD");
export const JUNK = [
  "",
  "null",
  "[]",
  "{}",
  "[null]",
  '"text"',
  "{",
  "\u0000\u0001",
  '{"type":1}',
  `{"x":"${"x".repeat(900_000)}"}`,
];

export interface Run {
  readonly clock: ManualClock;
  readonly ticks: Tick[];
  readonly problems: (string | null)[];
  readonly lines: Record<string, unknown>[];
  report(): ConnectionReport;
  /** From which instants on its repair was asked for minutes, apart from those at the beginning of connections. */
  readonly repairs: readonly number[];
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export function start(
  upstream: Upstream,
  take: (ticks: readonly Tick[]) => Promise<void> = async () => undefined,
  calendar: Calendar = compileCalendar({ kind: "always" }, []),
  nowMs = NOW_MS,
): Run {
  const clock = manualClock(nowMs);
  const [ticks, problems, lines]: [Tick[], (string | null)[], Record<string, unknown>[]] = [[], [], []];
  const stop = new AbortController();
  const log = collectingLog(lines, "info");
  const calendarOf = () => calendar;
  const watch = createUpstreamWatch({ upstream, calendarOf, isListed: () => true, nowMs });
  const metrics = createMetrics();
  const repairs: number[] = [];
  const repair = {
    live: () => undefined,
    lost: () => undefined,
    since: (fromMs: number | null) => void repairs.push(fromMs ?? 0),
  };
  const options = { upstream, listings: () => LISTINGS, calendarOf, named: new Map(), watch, metrics, clock, log, repair };
  const feed = upstreamFeed(options);
  const ended = superviseFeed(
    {
      feed,
      name: upstream.name,
      clock,
      log,
      async take(batch) {
        ticks.push(...batch);
        await take(batch);
      },
      onState: (problem) => void problems.push(problem),
      onLost: (error, untilMs) => watch.lost(error, clock.now(), untilMs),
    },
    stop.signal,
  );
  const report = () => watch.report(clock.now());
  return { clock, ticks, problems, lines, report, repairs, stop, ended };
}

const eur = (timeMs: number, bid: number, ask: number): Said => ({ ticker: "EURUSD", timeMs, bid, ask });
export const tickOf = ({ ticker, timeMs, bid, ask }: Said) => ({ ticker, time_msc: timeMs, bid, ask });
export const QUOTES = [
  eur(TIME_MS, 1.1, 1.1001),
  { ticker: "XAUUSD", timeMs: TIME_MS + 7, bid: 4_000.1, ask: 4_000.5 },
  eur(TIME_MS + 250, 1.1002, 1.1004),
] as const satisfies readonly Said[];
export const LAST = eur(TIME_MS + 900, 1.2, 1.2001);

/** The far side says these prices on a connection. */
export const quoter =
  ({ price }: Wire) =>
  (peer: Peer, said: readonly Said[] = QUOTES): void => {
    for (const one of said) peer.send(price(one));
  };

export const until = (condition: () => boolean) => vi.waitUntil(condition, { interval: 5 });

/** How often the connection was lost. */
export const lostIn = ({ problems }: Run): number => problems.filter((problem) => problem !== null).length;

/** The pause before the next try, as the log says it, rounded up. */
export const nextTryMs = ({ lines }: Run): number =>
  Number(lines.findLast(({ retry_ms }) => retry_ms !== undefined)?.retry_ms) + 1;
