import { IngestReceipt } from "#lib/contract/ingest";
import type { Answer, Stranger } from "./client";
import type { PlainKline } from "./plain-klines";

export const INGEST_PATH = "/api/v1/ingest/ticks";
/** Decimal places of the prices pushed here, one more than EURUSD has. */
const SPREAD_DIGITS = 6;

/** One price state, as a feeder sends it. */
export interface PushedTick {
  readonly ticker: string;
  readonly time_msc: number;
  readonly bid: number;
  readonly ask: number;
}

/** Sends price states the way a provider's terminal does. */
export interface Feeder {
  /**
   * Price states at the current time, each a millisecond after the previous one; prices in hundred-thousandths, `[bid, ask]`.
   */
  ticks(ticker: string, points: readonly (readonly [bid: number, ask: number])[]): PushedTick[];
  /** Posts lines: text unchanged, anything else as JSON. */
  post(lines: readonly (string | object)[]): Promise<Answer>;
  /** Posts lines and returns the receipt; any other answer is an error. */
  push(lines: readonly (string | object)[]): Promise<IngestReceipt>;
}

/** Creates a feeder; its times never go back, whatever the clock does. */
export function createFeeder(caller: Stranger): Feeder {
  let newestMs = 0;
  const post: Feeder["post"] = (lines) => {
    const body = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
    return caller.call(INGEST_PATH, { method: "POST", headers: { "content-type": "application/x-ndjson" }, body });
  };
  return {
    ticks(ticker, points) {
      newestMs = Math.max(newestMs + 1, Date.now());
      return points.map(([bid, ask]) => {
        newestMs += 1;
        return { ticker, time_msc: newestMs, bid: bid / 1e5, ask: ask / 1e5 };
      });
    },
    post,
    async push(lines) {
      const { status, text, data } = await post(lines);
      if (status !== 200) throw new Error(`pushed ticks were answered ${status}: ${text}`);
      return IngestReceipt.parse(data);
    },
  };
}

/** Ticks as rows that can be aggregated: each is a kline of its own interval. */
export function tickRows(ticks: readonly PushedTick[]): PlainKline[] {
  return ticks.map(({ time_msc, bid, ask }) => ({
    time: Math.floor(time_msc / 1000),
    open: bid,
    high: bid,
    low: bid,
    close: bid,
    tick_volume: 1,
    real_volume: null,
    spread: Number((ask - bid).toFixed(SPREAD_DIGITS)),
  }));
}
