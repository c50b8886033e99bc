import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import { operations } from "#lib/operations/declarations";
import { MINUTE_MS } from "#lib/units";
import type { PlainKline } from "../plain-klines";
import { type Reference, TICKERS } from "./market";
import type { Node } from "./node";

const NO_CONNECTION = "no connection";
const POLL_INTERVAL_MS = 250;
const ANSWER_MAX_MS = 10_000;
/** Accepted ticks reach every edge within this time, on a busy machine too. */
const ARRIVES_MS = 10_000;
const WINDOW_ROWS = 20;
/** What a fault may cause instead of the right answer. */
const EXCUSED: ReadonlySet<string> = new Set(["503 50302", NO_CONNECTION]);
const MARKET = "/api/v1/market";

/** Polls one edge over REST and compares each answer with the reference. */
export interface Poller {
  readonly edge: Node;
  newestMs(ticker: string): number;
  readonly problems: string[];
  /** Answers other than 200, by status and code, and calls without an answer. */
  readonly failures: Map<string, number>;
  /** Closed klines answered since the last call that differ from the reference. Call it when nothing is in transit. */
  wrongKlines(): string[];
  stop(): Promise<void>;
}

/** A kline without the fields that name its series. */
export function numbersOf(kline: PlainKline): PlainKline {
  const { time, open, high, low, close, tick_volume, real_volume, spread } = kline;
  return { time, open, high, low, close, tick_volume, real_volume, spread };
}

/** Calls a path of an edge; returns the data of a success, or the failure. */
export async function ask(edge: Node, key: string, path: string): Promise<{ data: unknown } | { failure: string }> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const response = await fetch(edge.url + MARKET + path, { headers: { authorization: `Bearer ${key}` }, signal });
    const { code, data } = (await response.json()) as { code: number; data: unknown };
    return response.status === 200 ? { data } : { failure: `${response.status} ${code}` };
  } catch (error) {
    return { failure: error instanceof Error && error.name === "TimeoutError" ? "no answer" : NO_CONNECTION };
  }
}

/** The newest klines of a series according to an edge. @throws Error with the failure */
export async function askKlines(edge: Node, key: string, ticker: string, timeframe: string): Promise<PlainKline[]> {
  const answer = await ask(edge, key, `/klines?ticker=${ticker}&timeframe=${timeframe}&limit=${WINDOW_ROWS}`);
  if ("failure" in answer) throw new Error(`${edge.name} answered klines ${answer.failure}`);
  return operations.klines.data.parse(answer.data).items.map(numbersOf);
}

/** Starts to poll. */
export function startPoller(edge: Node, key: string, reference: Reference): Poller {
  const problems: string[] = [];
  const failures = new Map<string, number>();
  const newest = new Map<string, number>();
  const closed = new Map<string, Set<string>>();
  let asked = 0;
  let pid = 0;
  let stopped = false;

  function fail(failure: string): void {
    failures.set(failure, (failures.get(failure) ?? 0) + 1);
    if (!EXCUSED.has(failure)) problems.push(`${edge.name} answered ${failure}`);
  }

  async function pollQuotes(): Promise<void> {
    const answer = await ask(edge, key, `/quotes/latest?tickers=${TICKERS.join(",")}`);
    if ("failure" in answer) return fail(answer.failure);
    for (const quote of operations.latestQuotes.data.parse(answer.data).items) {
      const { ticker, time_msc, bid, ask: asking } = quote;
      const sent = reference.find(ticker, time_msc);
      if (sent === undefined || sent.fate === "out" || sent.tick.bid !== bid || sent.tick.ask !== asking)
        problems.push(`${edge.name}: a quote that was never pushed: ${JSON.stringify(quote)}`);
      if (time_msc < (newest.get(ticker) ?? 0))
        problems.push(`${edge.name}: a quote older than an earlier one: ${JSON.stringify(quote)}`);
      newest.set(ticker, time_msc);
    }
  }

  async function pollKlines(): Promise<void> {
    const ticker = TICKERS[asked % TICKERS.length] ?? "";
    asked += 1;
    const atMs = Date.now();
    const answer = await ask(edge, key, `/klines?ticker=${ticker}&timeframe=M1&limit=${WINDOW_ROWS}`);
    if ("failure" in answer) return fail(answer.failure);
    for (const kline of operations.klines.data.parse(answer.data).items) {
      if (kline.time * 1000 + MINUTE_MS + KLINE_CLOSE_DELAY_MS + ARRIVES_MS > atMs) continue;
      const name = `${ticker} ${kline.time}`;
      closed.set(name, (closed.get(name) ?? new Set()).add(JSON.stringify(numbersOf(kline))));
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      // A restarted process, which has answered nothing yet.
      if (edge.pid() !== pid) newest.clear();
      pid = edge.pid();
      await Promise.all([pollQuotes(), pollKlines()]);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }
  const running = run();

  return {
    edge,
    problems,
    failures,
    newestMs: (ticker) => newest.get(ticker) ?? 0,
    wrongKlines() {
      const wrong: string[] = [];
      for (const [name, texts] of closed) {
        const [ticker = "", time] = name.split(" ");
        const due = reference.klines(ticker, "M1").get(Number(time));
        if (due === null) continue;
        for (const text of texts)
          if (text !== JSON.stringify(due))
            wrong.push(`${edge.name} answered ${name} as ${text}, expected ${JSON.stringify(due)}`);
      }
      closed.clear();
      return wrong;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
