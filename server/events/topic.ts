import type { StreamName, Timeframe } from "#lib/contract/primitives";

/** Names what has a sequence of its own and can be subscribed to: a stream of a ticker, of one timeframe for klines. */
export function topicName(stream: StreamName, ticker: string, timeframe?: Timeframe): string {
  return timeframe === undefined ? `${stream}:${ticker}` : `${stream}:${ticker}:${timeframe}`;
}
