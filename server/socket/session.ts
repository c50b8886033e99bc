import type { Principal } from "#lib/access/principal";
import { requireAccess } from "#lib/access/principal";
import { CLOSES, type CloseId } from "#lib/contract/close-codes";
import {
  STREAM_FIRST_SUBSCRIBE_TIMEOUT_S,
  STREAM_HEARTBEAT_INTERVAL_S,
  STREAM_MESSAGES_PER_SECOND_COUNT,
  STREAM_UNREADABLE_MAX_COUNT,
} from "#lib/contract/limits";
import type { Ack, ClientMessage, ErrorMessage, MessageId } from "#lib/contract/stream";
import { Fault, isFault } from "#lib/fault";
import { faultOf } from "#lib/http/respond";
import type { Logger } from "#lib/log";
import type { Outbox } from "#server/hub/outbox";
import { controlOf, type Outgoing } from "#server/hub/outgoing";
import type { Admission } from "./admission";
import { Intake } from "./intake";
import { errorMessageOf, welcomeOf } from "./messages";
import type { Peer } from "./peer";
import type { Reading } from "./protocol";
import type { SessionTally } from "./session-tally";
import { Subscriptions } from "./subscriptions";
import type { VenueStreams } from "./venue-streams";

/** Takes the answer to one message. */
type Respond = (answer: Ack | ErrorMessage) => void;

interface SessionOptions {
  readonly admission: Admission;
  readonly venue: VenueStreams;
  readonly outbox: Outbox;
  readonly peer: Peer;
  readonly tally: SessionTally;
  readonly log: Logger;
  /** In front of the paths of docs pages. */
  readonly docsBase: string;
}

const NO_SUBSCRIBE = new Fault("missing_parameter", {
  detail: `No subscribe came within ${STREAM_FIRST_SUBSCRIBE_TIMEOUT_S} seconds.`,
  parameter: "subscribe",
});

/**
 * The protocol of one connection, the same on every transport. It reads what is sent, answers, follows topics, and ends the
 * connection when it must. A class: there is one for each of many connections, and they share its methods.
 */
export class Session {
  readonly admission: Admission;
  readonly #options: SessionOptions;
  readonly #subscriptions: Subscriptions;
  readonly #intake: Intake;
  #principal: Principal;
  #unreadable = 0;
  #heartbeatMs: number;
  /** When the first subscribe has to have come; infinite once it has. */
  #subscribeByMs: number;
  #closed = false;

  constructor(options: SessionOptions) {
    const nowMs = options.venue.clock.now();
    this.#options = options;
    this.admission = options.admission;
    this.#principal = options.admission.principal;
    this.#subscriptions = new Subscriptions(options.venue, options.outbox);
    this.#intake = new Intake(nowMs);
    this.#heartbeatMs = nowMs + STREAM_HEARTBEAT_INTERVAL_S * 1000;
    this.#subscribeByMs = options.peer.awaitsSubscribe
      ? nowMs + STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000
      : Number.POSITIVE_INFINITY;
  }

  get principal(): Principal {
    return this.#principal;
  }

  get venue(): VenueStreams {
    return this.#options.venue;
  }

  get subscriptions(): number {
    return this.#subscriptions.count;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Says the first word. */
  welcome(): void {
    this.#send(welcomeOf(this.admission.id, this.#principal.plan, this.#options.venue));
  }

  /** Takes one incoming message; it is read only when it may be. */
  receive(read: () => Reading, respond: Respond = (answer) => this.#send(answer)): void {
    if (this.#closed) return;
    const admittance = this.#intake.judge(this.#options.venue.clock.now());
    if (admittance === "read") this.#answer(read(), respond);
    else if (admittance === "refuse") respond(this.#tooFast());
    else this.close("flooding", new Fault("rate_limited", { detail: "Messages went on coming too fast." }));
  }

  /** Counts a ping of the client; they are answered below, but a flood of them is one too. */
  pinged(): void {
    const flooding = !this.#closed && this.#intake.judge(this.#options.venue.clock.now()) === "flooding";
    if (flooding) this.close("flooding", new Fault("rate_limited", { detail: "Pings came too fast." }));
  }

  /** Looks after the clock: expiry, the first subscribe, slowness, the heartbeat. */
  sweep(nowMs: number): void {
    this.#options.peer.sweep(nowMs);
    if (this.#closed) return;
    const { validUntil } = this.#principal;
    const slowness = this.#options.outbox.slowness(nowMs);
    if (validUntil !== null && nowMs >= validUntil) this.reauthorize(undefined);
    else if (nowMs >= this.#subscribeByMs) this.close("protocol_abuse", NO_SUBSCRIBE);
    else if (slowness !== undefined) this.close("slow_consumer", new Fault("slow_consumer", { detail: slowness }));
    else if (nowMs >= this.#heartbeatMs) this.#heartbeat(nowMs);
  }

  /** Takes the principal as it is now, undefined for a key that is not valid any more, and ends what it does not allow. */
  reauthorize(principal: Principal | undefined): void {
    if (this.#closed) return;
    if (principal === undefined) {
      this.close("unauthorized", new Fault("unauthorized", { detail: "The key is no longer valid." }));
      return;
    }
    this.#principal = principal;
    const fault = this.#withdrawn(principal);
    if (fault !== undefined) this.close("forbidden", fault);
  }

  /** Its place is wanted: finds out whether the far side is still there. */
  probe(nowMs: number): void {
    this.#options.peer.probe(nowMs);
  }

  /** Drops subscriptions of instruments that were retired, and says so. */
  relist(): void {
    const tickers = this.#subscriptions.dropUnlisted();
    if (tickers.length === 0) return;
    this.#send(this.#error(null, new Fault("unknown_ticker", { detail: "No longer listed; not followed any more.", tickers })));
  }

  /** Sends a message that is the same for many. */
  tell(message: Outgoing): void {
    if (!this.#closed) this.#options.outbox.push(message);
  }

  /** Ends the connection, saying why. */
  close(id: CloseId, fault?: Fault): void {
    if (this.#closed) return;
    const last = fault && controlOf(this.#error(null, fault, CLOSES[id].code));
    this.end();
    this.#options.outbox.clear();
    this.#options.tally.closed(id);
    this.#options.peer.close(id, last);
  }

  /** The connection is gone. Call it once. */
  gone(): void {
    this.end();
    this.#options.tally.gone();
  }

  /** Follows nothing any more. */
  end(): void {
    this.#closed = true;
    this.#subscriptions.clear();
  }

  #send(message: Parameters<typeof controlOf>[0]): void {
    this.#options.outbox.push(controlOf(message));
  }

  /** A mistake of ours ends in an answer to one client, not in the end of the process. */
  #attempt(message: ClientMessage, respond: Respond): void {
    try {
      this.#handle(message, respond);
    } catch (error) {
      this.#options.log.error({ err: error, connection_id: this.admission.id }, "a stream message failed");
      respond(this.#error(message.id ?? null, faultOf(error)));
    }
  }

  #handle(message: ClientMessage, respond: Respond): void {
    const { method } = message;
    const id = message.id ?? null;
    const success = { code: 0, message: "success" } as const;
    if (method === "subscribe") {
      const before = this.#subscriptions.count;
      const { data, follow } = this.#subscriptions.add(message.params, this.#principal);
      this.#options.tally.subscribed(this.#subscriptions.count - before);
      this.#subscribeByMs = Number.POSITIVE_INFINITY;
      respond({ type: "ack", id, method, ...success, data });
      for (const outgoing of follow) this.#options.outbox.push(outgoing);
    } else if (method === "unsubscribe")
      respond({ type: "ack", id, method, ...success, data: this.#subscriptions.remove(message.params, this.#principal) });
    else if (method === "list") {
      const items = this.#subscriptions.list();
      respond({ type: "ack", id, method, ...success, data: { subscriptions: items.length, items } });
    } else respond({ type: "ack", id, method, ...success, data: { time_msc: this.#options.venue.clock.now() } });
  }

  #answer(reading: Reading, respond: Respond): void {
    this.#unreadable = reading.ok ? 0 : this.#unreadable + 1;
    if (reading.ok) this.#attempt(reading.message, respond);
    else if (this.#unreadable < STREAM_UNREADABLE_MAX_COUNT) respond(this.#error(reading.id, reading.fault));
    else this.close("protocol_abuse", reading.fault);
  }

  #tooFast(): ErrorMessage {
    const detail = `At most ${STREAM_MESSAGES_PER_SECOND_COUNT} messages a second; this one was not read.`;
    return this.#error(null, new Fault("rate_limited", { detail, retry_after: this.#intake.waitS }));
  }

  /** What of an open connection the key does not allow any more. */
  #withdrawn(principal: Principal): Fault | undefined {
    try {
      requireAccess(principal, "market:stream", "A stream", this.admission.origin);
    } catch (error) {
      if (isFault(error)) return error;
      throw error;
    }
    if (!this.#subscriptions.permitted(principal))
      return new Fault("unknown_ticker", { detail: "A subscribed instrument is no longer among those of the account." });
    const max = principal.plan.subscriptionsPerConnection;
    if (this.#subscriptions.count > max)
      return new Fault("too_many_subscriptions", { detail: `The plan now allows ${max} subscriptions a connection.`, max });
    return undefined;
  }

  #heartbeat(nowMs: number): void {
    this.#heartbeatMs = nowMs + STREAM_HEARTBEAT_INTERVAL_S * 1000;
    const { watch } = this.#options.venue;
    const quiet = [...this.#subscriptions.tickers()].flatMap((ticker) => watch.quiet(ticker) ?? []);
    this.#send({ type: "heartbeat", time_msc: nowMs, quiet });
  }

  #error(id: MessageId, fault: Fault, closeCode?: number): ErrorMessage {
    const place = { id, connectionId: this.admission.id, docsBase: this.#options.docsBase };
    return errorMessageOf(fault, { ...place, ...(closeCode !== undefined && { closeCode }) });
  }
}
