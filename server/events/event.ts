import { randomUUID } from "node:crypto";
import type { Kline } from "#lib/contract/kline";
import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";

/** Long enough that no two epochs share a name. */
const EPOCH_CHARACTERS = 8;

/** Where an event stands in its sequence. */
interface Sequenced {
  /** What the sequence is of, as topicName gives it. */
  readonly topic: string;
  /** Names one life of the engine: a restart starts another, and all sequences anew. */
  readonly epoch: string;
  /** Grows by 1 for each record of (type, ticker, timeframe) within the epoch, from 1. */
  readonly seq: number;
  /** Records before it that it stands for, where they could not be carried one by one. */
  readonly merged?: number;
  /** True for what a new epoch begins with: nothing changed, the sequence goes on from here. */
  readonly restored?: boolean;
}

interface QuoteEvent extends Sequenced {
  readonly type: "quote";
  readonly record: Quote;
}

interface SnapshotEvent extends Sequenced {
  readonly type: "snapshot";
  readonly record: Snapshot;
}

export interface KlineEvent extends Sequenced {
  readonly type: "kline";
  readonly record: Kline;
  readonly closed: boolean;
}

/**
 * One change of market truth. The engine alone makes them; the bus carries them, the view shows them, the recorder
 * stores them, the hub sends them. `record` is the wire record and is never changed after it was published.
 */
export type MarketEvent = QuoteEvent | SnapshotEvent | KlineEvent;

/** Names a new epoch: one life of an engine, in which sequences rise from 1. */
export function newEpoch(): string {
  return randomUUID().slice(0, EPOCH_CHARACTERS);
}
