import { randomUUID } from "node:crypto";
import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";
import type { Kline } from "#lib/domain/kline";

/** Long enough that two epochs never share an id. */
const EPOCH_CHARACTERS = 8;

/** The position of an event in its sequence. */
interface Sequenced {
  /** The topic of the sequence, from topicName. */
  readonly topic: string;
  /** Identifies one run of the engine: a restart starts a new epoch, in which all sequences restart. */
  readonly epoch: string;
  /** Grows by 1 for each record of (type, ticker, timeframe) within the epoch, from 1. */
  readonly seq: number;
  /** Number of earlier records it replaces, because they could not be sent one by one. */
  readonly merged?: number;
  /** True for the records a new epoch starts with: nothing changed, the sequence continues from here. */
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
  /** True for the new state of a closed kline whose stored minutes changed; what is stored has it already. */
  readonly corrected?: boolean;
  /** True for a correction that removes the kline; the record is what it was. */
  readonly removed?: boolean;
}

/**
 * One change of the market. Only the engine creates events; the event log carries them, the view shows them, the recorder stores
 * them, the hub sends them. `record` is that of the contract, except that an unknown spread of a kline is null, and never changes once published.
 */
export type MarketEvent = QuoteEvent | SnapshotEvent | KlineEvent;

/** Receives events, in order; must not throw or block. */
export type Listener = (events: readonly MarketEvent[]) => void;

/** Makes the id of a new epoch: one run of an engine, in which sequences rise from 1. */
export function newEpoch(): string {
  return randomUUID().slice(0, EPOCH_CHARACTERS);
}
