import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import type { KlineMessage } from "#lib/contract/stream";
import type { Client } from "./client";
import type { SpotwireError } from "./errors";
import type { StreamOptions } from "./stream";

/** The fields of a kline that a chart shows. */
export type Bar = Pick<Kline, "time" | "open" | "high" | "low" | "close" | "tick_volume">;

/** Whether a chart is live; `why` says why it is not, also while it tries again. */
export interface LiveState {
  readonly phase: "history" | "connecting" | "live" | "stopped";
  readonly why?: string;
}

/** Receives the klines of a series as they change. */
export interface BarListener {
  /** A new, changed or, when `removed`, withdrawn bar. */
  onBar(bar: Bar, removed: boolean): void;
  /** A change from `connecting` or `stopped` to `live` means that bars may have been missed. */
  onState(state: LiveState): void;
}

/** Where a chart gets the klines of its instrument. A source without `read` has no history, one without `follow` no updates. */
export interface BarSource {
  /** The newest bars before `to` (Unix seconds; undefined: now), ascending. May reject with a SpotwireError. */
  readonly read?: (
    query: { readonly timeframe: Timeframe; readonly to: number | undefined; readonly limit: number },
    signal: AbortSignal,
  ) => Promise<readonly Bar[]>;
  /** Follows the bars of a timeframe until the returned function is called. */
  readonly follow?: (timeframe: Timeframe, listener: BarListener) => () => void;
}

/** Passes the events of a stream to the listener of a chart. */
function optionsFor(listener: BarListener): StreamOptions {
  let last: SpotwireError | undefined;
  return {
    // A chart reads its newest klines again, corrected ones among them.
    recover: false,
    onError: (error) => {
      last = error;
    },
    // The series reads what is missing when it hears that it is live again.
    onGap() {
      listener.onState({ phase: "connecting" });
      listener.onState({ phase: "live" });
    },
    onStateChange({ state, error = last }) {
      if (state === "open") {
        last = undefined;
        listener.onState({ phase: "live" });
        return;
      }
      const phase = state === "closed" ? "stopped" : "connecting";
      listener.onState({ phase, ...(error !== undefined && { why: error.message }) });
    },
  };
}

/**
 * The klines of a ticker as a source for charts: history over REST, updates over a stream of its own that reconnects and resumes.
 * A stream that ended for good, for example because the key was revoked, is `stopped`, and `why` says why.
 */
export function klineSource(client: Client, ticker: string): BarSource {
  return {
    read: async (query, signal) => (await client.klines({ ticker, ...query }, { signal })).items,
    follow(timeframe, listener) {
      const stream = client.stream(optionsFor(listener));
      const onRecord = ({ data, event }: KlineMessage) => listener.onBar(data, event === "removal");
      // A refused ticker leaves nothing to follow; why also went to `onError`.
      stream.subscribe({ stream: "kline", tickers: [ticker], timeframe }, onRecord).ready.catch(() => stream.close());
      return () => stream.close();
    },
  };
}
