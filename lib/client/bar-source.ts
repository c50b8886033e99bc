import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import type { KlineMessage } from "#lib/contract/stream";
import type { Client } from "./client";
import type { SpotwireError } from "./errors";
import type { Gap } from "./sequence";
import type { Stream, StreamListener, StreamState } from "./stream";

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

/** What an event of a stream means to a chart of one ticker and timeframe. */
function listenerFor({ ticker, timeframe }: Pick<Gap, "ticker" | "timeframe">, { onState }: BarListener): StreamListener {
  return {
    onError: () => undefined,
    // The series reads what is missing when it hears that it is live again.
    onGap(gap) {
      if (gap.stream !== "kline" || gap.ticker !== ticker || gap.timeframe !== timeframe) return;
      onState({ phase: "connecting" });
      onState({ phase: "live" });
    },
    onStateChange: ({ state, error }) => onState({ phase: phaseOf(state), ...(error !== undefined && { why: error.message }) }),
  };
}

function phaseOf(state: StreamState): LiveState["phase"] {
  if (state === "open") return "live";
  return state === "closed" ? "stopped" : "connecting";
}

/**
 * The klines of a ticker as a source for charts: history over REST, updates over a stream that reconnects and resumes. With a client
 * each chart has a stream of its own; with a stream, charts and others share it, and its owner closes it.
 * A chart whose ticker was refused, or whose stream ended for good, for example because the key was revoked, is `stopped`, and `why`
 * says why. Following a closed stream throws SpotwireError stream_closed.
 */
export function klineSource(from: Client | Stream, ticker: string): BarSource {
  return {
    read: async (query, signal) => (await from.klines({ ticker, ...query }, { signal })).items,
    follow(timeframe, listener) {
      // A chart reads its newest klines again, corrected ones among them.
      const stream = "stream" in from ? from.stream({ recover: false }) : from;
      const onRecord = ({ data, event }: KlineMessage) => listener.onBar(data, event === "removal");
      const subscription = stream.subscribe({ stream: "kline", tickers: [ticker], timeframe }, onRecord);
      listener.onState({ phase: phaseOf(stream.state) });
      const stopListening = stream.listen(listenerFor({ ticker, timeframe }, listener));
      let left = false;
      const leave = () => {
        left = true;
        stopListening();
        subscription.unsubscribe();
        if (stream !== from) stream.close();
      };
      subscription.ready.catch((error: SpotwireError) => {
        // The end of the stream was heard already.
        if (left || stream.state === "closed") return;
        leave();
        listener.onState({ phase: "stopped", why: error.message });
      });
      return leave;
    },
  };
}
