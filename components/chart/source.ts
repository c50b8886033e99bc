import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";

/** The fields of a kline that a chart shows. */
export type Bar = Pick<Kline, "time" | "open" | "high" | "low" | "close" | "tick_volume">;

/** Whether a chart is live; `why` says why it is not. */
export interface LiveState {
  readonly phase: "history" | "connecting" | "live" | "stopped";
  readonly why?: string;
}

/** Receives the klines of a series as they change. */
export interface BarListener {
  /** A new, changed or, when `removed`, withdrawn bar. */
  onBar(bar: Bar, removed: boolean): void;
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
