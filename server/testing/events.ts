import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Kline } from "#lib/domain/kline";
import type { MarketEvent } from "#server/events/event";
import { topicName } from "#server/events/topic";

/** Epoch of every event created here. */
export const TEST_EPOCH = "test";

/** An event as an engine would publish it. */
export function eventOf(record: Quote | Snapshot | Kline, { seq = 1, closed = false } = {}): MarketEvent {
  const place = { epoch: TEST_EPOCH, seq };
  if (record.type !== "kline")
    return { ...place, topic: topicName(record.type, record.ticker), type: record.type, record } as MarketEvent;
  return { ...place, topic: topicName("kline", record.ticker, record.timeframe), type: "kline", record, closed };
}
