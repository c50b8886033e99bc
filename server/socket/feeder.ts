import type { Access } from "#lib/access/access";
import { type Principal, requireAccess } from "#lib/access/principal";
import { TickLine, type TickRejection } from "#lib/contract/ingest";
import { STREAM_INGEST_UNACKED_MAX_TICKS } from "#lib/contract/limits";
import type { IngestParams, IngestResult } from "#lib/contract/stream-ingest";
import { Fault } from "#lib/fault";
import { faultOf } from "#lib/http/respond";
import type { Logger } from "#lib/log";
import { createReceipt, problemOf, pushable, readTick, turnForTicks } from "#lib/market/ingest";
import type { Market, Outcome } from "#lib/market/ports";
import type { Admission } from "./handshake";

const FULL_RETRY_AFTER_S = 1;

/** What happens to one message. */
interface Handled {
  /** Its ticks are in the engine, or were rejected one by one. */
  done(result: IngestResult): void;
  /** Nothing of it is stored; it has to be sent again from `expectedSeq` on. */
  failed(fault: Fault, expectedSeq: number): void;
}

interface Waiting extends Handled {
  readonly params: IngestParams;
}

interface FeederOptions {
  readonly market: Pick<Market, "leader">;
  readonly access: Pick<Access, "takeTicks">;
  readonly admission: Pick<Admission, "origin" | "address">;
  /** The key as it is now. */
  readonly principal: () => Principal;
  readonly closed: () => boolean;
  readonly log: Pick<Logger, "error">;
}

/**
 * Takes the ticks of one connection in the order of its messages. While a batch is stored, further messages wait, up to a bound,
 * and make the next batch. When a message fails, those behind it are ignored until it is sent again: later ticks in front of
 * earlier ones would make the market reject the earlier ones.
 */
export class Feeder {
  readonly #options: FeederOptions;
  #waiting: Waiting[] = [];
  #waitingTicks = 0;
  /** The next `seq`; any before the first message. */
  #expected: number | null = null;
  /** A message failed and has not come again. */
  #refusing = false;
  #running = false;

  constructor(options: FeederOptions) {
    this.#options = options;
  }

  /** Takes a message; it is answered later. */
  take(params: IngestParams, handled: Handled): void {
    const { seq, ticks } = params;
    const expected = this.#expected ?? seq;
    if (seq !== expected) {
      if (!this.#refusing) this.#refuse(handled, expected, this.#outOfSequence(expected));
      return;
    }
    if (this.#waitingTicks + ticks.length > STREAM_INGEST_UNACKED_MAX_TICKS) {
      const detail = `At most ${STREAM_INGEST_UNACKED_MAX_TICKS} ticks can wait for their ack.`;
      const fault = new Fault("rate_limited", { detail, max: STREAM_INGEST_UNACKED_MAX_TICKS, retry_after: FULL_RETRY_AFTER_S });
      this.#refuse(handled, seq, fault);
      return;
    }
    this.#refusing = false;
    this.#expected = seq + 1;
    this.#waiting.push({ params, ...handled });
    this.#waitingTicks += ticks.length;
    if (!this.#running) void this.#run();
  }

  #outOfSequence(expected: number): Fault {
    const detail = `\`seq\` must be ${expected}. Messages are ignored until one has it.`;
    return new Fault("invalid_parameter", { parameter: "seq", detail });
  }

  #refuse(handled: Handled, expected: number, fault: Fault): void {
    this.#refusing = true;
    this.#expected = expected;
    handled.failed(fault, expected);
  }

  /** The messages of the next batch. */
  #next(maxTicks: number): Waiting[] {
    let ticks = 0;
    let count = 0;
    for (const { params } of this.#waiting) {
      if (count > 0 && ticks + params.ticks.length > maxTicks) break;
      ticks += params.ticks.length;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0 && !this.#options.closed()) {
      // Messages that arrive during the wait join this batch.
      await turnForTicks();
      const batch = this.#next(this.#options.market.leader.pushMaxTicks);
      const ticks = batch.flatMap(({ params }) => params.ticks);
      try {
        const outcomes = await this.#store(ticks);
        this.#waitingTicks -= ticks.length;
        this.#answer(batch, outcomes);
      } catch (error) {
        const fault = faultOf(error);
        if (fault.id === "internal_error") this.#options.log.error({ err: error }, "pushed ticks failed");
        // What waits behind it is dropped, too: it comes again.
        this.#waiting = [];
        this.#waitingTicks = 0;
        const [first] = batch;
        if (first !== undefined) this.#refuse(first, first.params.seq, fault);
      }
    }
    this.#running = false;
  }

  /** @throws Fault when nothing, or not all, could be stored */
  async #store(values: readonly unknown[]): Promise<readonly Outcome[]> {
    const { market, access, admission, principal } = this.#options;
    const key = principal();
    requireAccess(key, "market:ingest", "Pushing ticks", admission);
    const { allowed, retryAfterS } = await access.takeTicks(key, values.length, admission.address);
    if (!allowed) throw new Fault("rate_limited", { detail: "Too many ticks are pushed.", retry_after: retryAfterS });
    const mayPush = pushable(key.tickers);
    return market.leader.push(values.map((value) => readTick(value, mayPush)));
  }

  #answer(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
    let at = 0;
    for (const { params, done } of batch) {
      const receipt = createReceipt<TickRejection>();
      for (const [index, tick] of params.ticks.entries())
        receipt.add(index, outcomes[at + index], () => problemOf(TickLine, tick));
      at += params.ticks.length;
      const { rejections, ...counts } = receipt.result();
      done({ seq: params.seq, ...counts, rejections: rejections.map(({ line: index, ...why }) => ({ index, ...why })) });
    }
  }
}
