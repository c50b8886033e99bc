import {
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_EXCESS_MAX_COUNT,
  STREAM_MESSAGES_PER_SECOND_COUNT,
} from "#lib/contract/limits";
import { SECOND_MS } from "#lib/units";

/** What is done with an incoming message: read it, refuse it unread, or end the connection. */
type Admittance = "read" | "refuse" | "flooding";

/** The allowance is counted in thousandths of a message: a millisecond brings back as many as the rate per second. */
const MESSAGE = SECOND_MS;

/**
 * Judges how fast messages arrive. A refused one counts too, so that a client which keeps sending gets nowhere.
 */
export class Intake {
  /** Thousandths of a message; below zero after refused messages. */
  #allowance = STREAM_MESSAGES_BURST_COUNT * MESSAGE;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** Counts one message. */
  judge(nowMs: number): Admittance {
    const refilled = Math.max(0, nowMs - this.#atMs) * STREAM_MESSAGES_PER_SECOND_COUNT;
    this.#allowance = Math.min(STREAM_MESSAGES_BURST_COUNT * MESSAGE, this.#allowance + refilled) - MESSAGE;
    this.#atMs = nowMs;
    if (this.#allowance >= 0) return "read";
    return this.#allowance < -STREAM_MESSAGES_EXCESS_MAX_COUNT * MESSAGE ? "flooding" : "refuse";
  }

  /** Whole seconds until a message would be read. */
  get waitS(): number {
    return Math.max(1, Math.ceil((MESSAGE - this.#allowance) / (STREAM_MESSAGES_PER_SECOND_COUNT * SECOND_MS)));
  }
}
