import type { StreamName, Timeframe } from "#lib/contract/primitives";

/** The name of a topic, which has its own sequence: a stream of a ticker, and for klines of a timeframe. */
export function topicName(stream: StreamName, ticker: string, timeframe?: Timeframe): string {
  return timeframe === undefined ? `${stream}:${ticker}` : `${stream}:${ticker}:${timeframe}`;
}
