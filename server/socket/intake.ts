import {
  STREAM_MESSAGES_BURST_COUNT,
  STREAM_MESSAGES_EXCESS_MAX_COUNT,
  STREAM_MESSAGES_PER_SECOND_COUNT,
} from "#lib/contract/limits";

/** What is done with an incoming message: read it, refuse it unread, or end the connection. */
type Admittance = "read" | "refuse" | "flooding";

/**
 * Judges how fast messages come. A refused one counts too, so that a client which goes on sending gets nowhere.
 */
export class Intake {
  #tokens = STREAM_MESSAGES_BURST_COUNT;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** Counts one message. */
  judge(nowMs: number): Admittance {
    const refilled = (Math.max(0, nowMs - this.#atMs) / 1000) * STREAM_MESSAGES_PER_SECOND_COUNT;
    this.#tokens = Math.min(STREAM_MESSAGES_BURST_COUNT, this.#tokens + refilled);
    this.#atMs = nowMs;
    this.#tokens -= 1;
    if (this.#tokens >= 0) return "read";
    return this.#tokens < -STREAM_MESSAGES_EXCESS_MAX_COUNT ? "flooding" : "refuse";
  }

  /** Whole seconds until a message would be read. */
  get waitS(): number {
    return Math.max(1, Math.ceil((1 - this.#tokens) / STREAM_MESSAGES_PER_SECOND_COUNT));
  }
}
