import { z } from "zod";
import { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import { Quote } from "#lib/contract/quote";
import { Snapshot } from "#lib/contract/snapshot";
import type { KlineEvent, MarketEvent } from "#server/events/event";
import { topicName } from "#server/events/topic";

/** What a leader says with what it appends. */
export const Header = z.object({
  /** Its token; a higher one invalidates all lower ones. */
  token: z.int(),
  /** Number of the entry, counted from 1 by each leader. */
  n: z.int(),
  epoch: z.string(),
  /** Klines are closed up to here, Unix ms. */
  reachedMs: z.number(),
  /** Where it takes what is pushed; empty where nobody else can reach it. */
  address: z.string(),
  /** What is wrong with the feed; null when it is healthy or none is bound. */
  problem: z.string().nullable(),
  /** What is wrong on the way of the events to it, where it passes on those of another process. */
  away: z.string().nullable().optional(),
  /** The provider in force for each ticker, as ProviderChoice.inForce says; absent where there are not several providers. */
  speakers: z.record(z.string(), z.string()).optional(),
  /** Tickers that the feed does not bring; absent where all are, and from an earlier release. */
  unoffered: z.array(z.string()).optional(),
});
export type Header = z.infer<typeof Header>;

/** What the leader of a venue says of it. */
export type Standing = Omit<Header, "token" | "n">;

type Kind = MarketEvent["type"];

const withoutType = (shape: object) => Object.keys(shape).filter((name) => name !== "type");
const COLUMNS: Readonly<Record<Kind, readonly string[]>> = {
  quote: withoutType(Quote.shape),
  snapshot: withoutType(Snapshot.shape),
  kline: withoutType(Kline.shape),
};

/** Each batch names its columns: nodes of two releases may run side by side while one replaces the other. */
export const COLUMNS_TEXT = JSON.stringify(COLUMNS);

const CLOSED = 1;
const RESTORED = 2;
const CORRECTED = 4;
const REMOVED = 8;

/** An event without the fields its batch has once: kind, sequence, flags, merged, then the values of the record in column order. */
export type Row = readonly [kind: Kind, seq: number, flags: number, merged: number, ...values: unknown[]];

/** Encodes an event as a row of a batch. */
export function toRow(event: MarketEvent): Row {
  const { type, seq, merged = 0, restored } = event;
  const { closed, corrected, removed }: Partial<KlineEvent> = type === "kline" ? event : {};
  const flags = (closed ? CLOSED : 0) | (restored ? RESTORED : 0) | (corrected ? CORRECTED : 0) | (removed ? REMOVED : 0);
  const record = event.record as Readonly<Record<string, unknown>>;
  return [type, seq, flags, merged, ...COLUMNS[type].map((column) => record[column])];
}

/** Decodes rows with the given columns and epoch; columns unknown to this release are kept as additional fields of a record. */
export function createRowReader(columnsText: string): (row: Row, epoch: string) => MarketEvent {
  const columns = JSON.parse(columnsText) as Record<Kind, readonly string[]>;
  return ([type, seq, flags, merged, ...values], epoch) => {
    const record: Record<string, unknown> = { type };
    const names = columns[type];
    for (let index = 0; index < names.length; index += 1) record[names[index] as string] = values[index];
    const topic = topicName(type, record.ticker as string, record.timeframe as Timeframe | undefined);
    return {
      type,
      topic,
      record,
      epoch,
      seq,
      ...(type === "kline" && { closed: (flags & CLOSED) !== 0 }),
      ...(merged > 0 && { merged }),
      ...((flags & RESTORED) !== 0 && { restored: true }),
      ...((flags & CORRECTED) !== 0 && { corrected: true }),
      ...((flags & REMOVED) !== 0 && { removed: true }),
    } as unknown as MarketEvent;
  };
}

/** The keys of a venue's events in Redis; one script touches all three. */
export const LOG_KEYS = {
  /** Highest token that published. */
  fence: "fence",
  /** Entries of the last minute. */
  events: "events",
  /** Newest records, for a node that starts. */
  state: "state",
} as const;

/** Fields of the state that are not topics. */
export const STATE_ID = "id";
export const STATE_HEADER = "header";
export const STATE_COLUMNS = "columns";
/** Suffix of a topic's name for the field of its last closed klines. */
export const CLOSED_SUFFIX = " closed";
/** Closed klines kept there per series: a node that starts now may not find them in the store yet. */
export const CLOSED_KEPT_COUNT = 8;
