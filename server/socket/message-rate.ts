import { hasScope, type Principal } from "#lib/access/principal";
import {
  STREAM_INGEST_MESSAGES_BURST_COUNT,
  STREAM_INGEST_MESSAGES_PER_SECOND_COUNT,
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_EXCESS_MAX_COUNT,
  STREAM_MESSAGES_PER_SECOND_COUNT,
} from "#lib/contract/limits";
import { SECOND_MS } from "#lib/units";

/** How many messages a connection may send: a second, and at once. */
export interface MessageRate {
  readonly perSecond: number;
  readonly burst: number;
}

export const READER_RATE: MessageRate = { perSecond: STREAM_MESSAGES_PER_SECOND_COUNT, burst: STREAM_MESSAGES_BURST_COUNT };
const FEEDER_RATE: MessageRate = {
  perSecond: STREAM_INGEST_MESSAGES_PER_SECOND_COUNT,
  burst: STREAM_INGEST_MESSAGES_BURST_COUNT,
};

/** The rate of a connection with this key: a feeder may send a message for each tick. */
export function messageRate(principal: Principal): MessageRate {
  return hasScope(principal, "market:ingest") ? FEEDER_RATE : READER_RATE;
}

/** What to do with an incoming message: read it, refuse it unread, or close the connection. */
type Verdict = "read" | "refuse" | "flooding";

/** The allowance is counted in thousandths of a message: a millisecond restores as many as the rate per second. */
const MESSAGE = SECOND_MS;

/**
 * Limits the rate of incoming messages. A refused message counts too, so a client cannot get through by sending more.
 */
export class MessageRateLimit {
  readonly #rate: MessageRate;
  /** Thousandths of a message; below zero after refused messages. */
  #allowance: number;
  #atMs: number;

  constructor(nowMs: number, rate: MessageRate) {
    this.#atMs = nowMs;
    this.#rate = rate;
    this.#allowance = rate.burst * MESSAGE;
  }

  /** Counts one message. */
  judge(nowMs: number): Verdict {
    const refilled = Math.max(0, nowMs - this.#atMs) * this.#rate.perSecond;
    this.#allowance = Math.min(this.#rate.burst * MESSAGE, this.#allowance + refilled) - MESSAGE;
    this.#atMs = nowMs;
    if (this.#allowance >= 0) return "read";
    return this.#allowance < -STREAM_MESSAGES_EXCESS_MAX_COUNT * MESSAGE ? "flooding" : "refuse";
  }

  /** Whole seconds until the next message would be read. */
  get waitS(): number {
    return Math.max(1, Math.ceil((MESSAGE - this.#allowance) / (this.#rate.perSecond * SECOND_MS)));
  }
}
