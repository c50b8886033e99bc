import type { Access } from "#lib/access/access";
import { type Principal, requireAccess } from "#lib/access/principal";
import type { StreamUse } from "#lib/access/usage/stream-use";
import { CLOSES, type CloseId } from "#lib/contract/close-codes";
import { STREAM_FIRST_SUBSCRIBE_TIMEOUT_S, STREAM_HEARTBEAT_INTERVAL_S, STREAM_UNREADABLE_MAX_COUNT } from "#lib/contract/limits";
import type { Ack, ClientMessage, ErrorMessage, MessageId } from "#lib/contract/stream";
import { Fault, isFault } from "#lib/fault";
import { faultOf } from "#lib/http/respond";
import type { Logger } from "#lib/log";
import type { Outbox, Tally } from "#server/hub/outbox";
import { controlOf, type Shared } from "#server/hub/outgoing";
import { Feeder } from "./feeder";
import { type Admission, requireStreamAccess } from "./handshake";
import { MessageRateLimit, messageRate } from "./message-rate";
import type { Peer } from "./peer";
import type { Reading } from "./protocol";
import { type ErrorPlace, errorMessageOf, welcomeOf } from "./protocol";
import type { VenueStreams } from "./subscriptions";
import { Subscriptions } from "./subscriptions";

/**
 * Counts what one connection does, for the metrics of the process and for the usage of its key. A class, so that many
 * connections share its methods.
 */
export class SessionTally implements Tally {
  readonly #process: Tally;
  readonly #use: StreamUse;

  constructor(process: Tally, use: StreamUse) {
    this.#process = process;
    this.#use = use;
  }

  sent(messages: number): void {
    this.#process.sent(messages);
    this.#use.sent(messages);
  }

  merged(records: number): void {
    this.#process.merged(records);
    this.#use.merged(records);
  }

  closed(id: CloseId): void {
    this.#process.closed(id);
  }

  /** Counts new subscriptions. */
  subscribed(topics: number): void {
    this.#use.subscribed(topics);
  }

  /** Records the end of the connection. */
  gone(): void {
    this.#use.closed();
  }
}

/** Sends the answer to one message. */
type Respond = (answer: Ack | ErrorMessage) => void;

/** Shared by all sessions of one venue. */
export interface SessionContext {
  readonly venue: VenueStreams;
  readonly access: Pick<Access, "takeTicks">;
  readonly log: Logger;
  /** In front of the paths of docs pages. */
  readonly docsBase: string;
}

interface SessionParts {
  readonly admission: Admission;
  readonly outbox: Outbox;
  readonly peer: Peer;
  readonly tally: SessionTally;
}

const NO_SUBSCRIBE = new Fault("missing_parameter", {
  detail: `No subscribe message arrived within ${STREAM_FIRST_SUBSCRIBE_TIMEOUT_S} seconds.`,
  parameter: "subscribe",
});

/**
 * The protocol of one connection, the same on every transport. It reads messages, answers them, subscribes to topics and
 * closes the connection when a rule requires it. A class, so that many connections share its methods.
 */
export class Session {
  readonly admission: Admission;
  readonly #context: SessionContext;
  readonly #outbox: Outbox;
  readonly #peer: Peer;
  readonly #tally: SessionTally;
  readonly #subscriptions: Subscriptions;
  readonly #rateLimit: MessageRateLimit;
  #principal: Principal;
  /** Exists once ticks were pushed. */
  #feeder: Feeder | undefined;
  #unreadable = 0;
  #heartbeatMs: number;
  /** Deadline of the first subscribe; infinite once it arrived. */
  #subscribeByMs: number;
  #closed = false;

  constructor(context: SessionContext, { admission, outbox, peer, tally }: SessionParts) {
    const nowMs = context.venue.clock.now();
    this.#context = context;
    this.#outbox = outbox;
    this.#peer = peer;
    this.#tally = tally;
    this.admission = admission;
    this.#principal = admission.principal;
    this.#subscriptions = new Subscriptions(context.venue, outbox);
    this.#rateLimit = new MessageRateLimit(nowMs, messageRate(this.#principal));
    this.#heartbeatMs = nowMs + STREAM_HEARTBEAT_INTERVAL_S * 1000;
    this.#subscribeByMs = peer.awaitsSubscribe ? nowMs + STREAM_FIRST_SUBSCRIBE_TIMEOUT_S * 1000 : Number.POSITIVE_INFINITY;
  }

  get principal(): Principal {
    return this.#principal;
  }

  get venue(): VenueStreams {
    return this.#context.venue;
  }

  get subscriptions(): number {
    return this.#subscriptions.count;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends the first message. */
  welcome(): void {
    const { id } = this.admission;
    this.#send(welcomeOf(id, this.#principal.limits, messageRate(this.#principal), this.#context.venue));
  }

  /** Writes as much as the connection takes now. */
  flush(): void {
    this.#outbox.flush();
  }

  /** Handles one incoming message; `read` is called only when the rate limit allows it. */
  receive(read: () => Reading, respond: Respond = (answer) => this.#send(answer)): void {
    const verdict = this.#count("The client kept sending messages above the rate limit.");
    if (this.#closed) return;
    if (verdict === "read") this.#answer(read(), respond);
    else respond(this.#tooFast());
  }

  /** Counts a frame or packet that is no message, as pings and pongs that answer none: whatever a client sends has the same limit. */
  countFrame(): void {
    this.#count("The client sent too many frames.");
  }

  /** Checks everything that depends on time: expiry, the first subscribe, slow reading, the heartbeat. */
  sweep(nowMs: number): void {
    this.#peer.sweep(nowMs);
    if (this.#closed) return;
    const { validUntil } = this.#principal;
    const slowness = this.#outbox.slowness(nowMs);
    if (validUntil !== null && nowMs >= validUntil) this.reauthorize(undefined);
    else if (nowMs >= this.#subscribeByMs) this.close("protocol_abuse", NO_SUBSCRIBE);
    else if (slowness !== undefined) this.close("slow_consumer", new Fault("slow_consumer", { detail: slowness }));
    else if (nowMs >= this.#heartbeatMs) this.#heartbeat(nowMs);
  }

  /** Applies a changed principal and closes the connection when it no longer allows it; undefined stands for an invalid key. */
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

  /** Checks whether the client is still there, because another connection needs the slot. */
  probe(nowMs: number): void {
    this.#peer.probe(nowMs);
  }

  /** Ends subscriptions to retired instruments and reports them to the client. */
  dropUnlisted(): void {
    const tickers = this.#subscriptions.dropUnlisted();
    if (tickers.length === 0) return;
    this.#send(
      this.#error(
        null,
        new Fault("unknown_ticker", { detail: "The instrument is no longer listed; its subscriptions ended.", tickers }),
      ),
    );
  }

  /** Sends a message that many connections share. */
  tell(message: Shared): void {
    if (!this.#closed) this.#outbox.push(message(this.#outbox.encoding));
  }

  /** Closes the connection with a reason. */
  close(id: CloseId, fault?: Fault): void {
    if (this.#closed) return;
    const last = fault && controlOf(this.#error(null, fault, { closeCode: CLOSES[id].code }), this.#outbox.encoding);
    this.end();
    this.#outbox.clear();
    this.#tally.closed(id);
    this.#peer.close(id, last);
  }

  /** Call once when the connection has closed. */
  gone(): void {
    this.end();
    this.#tally.gone();
  }

  /** Ends all subscriptions. */
  end(): void {
    this.#closed = true;
    this.#subscriptions.clear();
  }

  #send(message: Parameters<typeof controlOf>[0]): void {
    this.#outbox.push(controlOf(message, this.#outbox.encoding));
  }

  /** A bug in a handler answers one client with an error; it does not stop the process. */
  #attempt(message: ClientMessage, respond: Respond): void {
    try {
      this.#handle(message, respond);
    } catch (error) {
      const fault = faultOf(error);
      const { log } = this.#context;
      const where = { connection_id: this.admission.id, method: message.method };
      // A refusal is the service at work: its client learns why.
      if (fault.id === "internal_error") log.error({ err: error, ...where }, "stream message failed");
      else log.debug({ code: fault.id, ...where }, "stream message refused");
      respond(this.#error(message.id ?? null, fault));
    }
  }

  #handle(message: ClientMessage, respond: Respond): void {
    const { method } = message;
    const id = message.id ?? null;
    const success = { code: 0, message: "success" } as const;
    if (method === "subscribe") {
      requireAccess(this.#principal, "market:stream", "A subscription", this.admission);
      const before = this.#subscriptions.count;
      const { data, follow } = this.#subscriptions.add(message.params, this.#principal);
      this.#tally.subscribed(this.#subscriptions.count - before);
      this.#subscribeByMs = Number.POSITIVE_INFINITY;
      respond({ type: "ack", id, method, ...success, data });
      for (const outgoing of follow) this.#outbox.push(outgoing);
    } else if (method === "unsubscribe")
      respond({ type: "ack", id, method, ...success, data: this.#subscriptions.remove(message.params, this.#principal) });
    else if (method === "list") {
      const items = this.#subscriptions.list();
      respond({ type: "ack", id, method, ...success, data: { subscriptions: items.length, items } });
    } else if (method === "ingest") {
      requireAccess(this.#principal, "market:ingest", "Pushing ticks", this.admission);
      this.#subscribeByMs = Number.POSITIVE_INFINITY;
      this.#feeder ??= this.#newFeeder();
      this.#feeder.take(message.params, {
        done: (data) => this.#closed || respond({ type: "ack", id, method, ...success, data }),
        failed: (fault, expectedSeq) => this.#closed || respond(this.#error(id, fault, { expectedSeq })),
      });
    } else respond({ type: "ack", id, method, ...success, data: { time_msc: this.#context.venue.clock.now() } });
  }

  /** Counts what the client sent, and closes the connection when it is too much; also while it closes for another reason. */
  #count(detail: string) {
    const verdict = this.#rateLimit.judge(this.#context.venue.clock.now());
    if (verdict !== "flooding") return verdict;
    if (this.#closed) this.#peer.close("flooding");
    else this.close("flooding", new Fault("rate_limited", { detail }));
    return verdict;
  }

  #newFeeder(): Feeder {
    const { venue, access, log } = this.#context;
    const state = { principal: () => this.#principal, closed: () => this.#closed };
    return new Feeder({ market: venue.market, access, admission: this.admission, log, ...state });
  }

  #answer(reading: Reading, respond: Respond): void {
    this.#unreadable = reading.ok ? 0 : this.#unreadable + 1;
    if (reading.ok) this.#attempt(reading.message, respond);
    else if (this.#unreadable < STREAM_UNREADABLE_MAX_COUNT) respond(this.#error(reading.id, reading.fault));
    else this.close("protocol_abuse", reading.fault);
  }

  #tooFast(): ErrorMessage {
    const { perSecond } = messageRate(this.admission.principal);
    const detail = `A connection may send ${perSecond} messages a second; this one was ignored.`;
    return this.#error(null, new Fault("rate_limited", { detail, retry_after: this.#rateLimit.waitS }));
  }

  /** Why the principal no longer allows this connection; undefined when it does. */
  #withdrawn(principal: Principal): Fault | undefined {
    try {
      requireStreamAccess(principal, this.admission);
      if (this.#subscriptions.count > 0) requireAccess(principal, "market:stream", "A subscription", this.admission);
    } catch (error) {
      if (isFault(error)) return error;
      throw error;
    }
    if (!this.#subscriptions.permitted(principal))
      return new Fault("unknown_ticker", { detail: "The key can no longer read a subscribed instrument." });
    const max = principal.limits.subscriptionsPerConnection;
    if (this.#subscriptions.count > max)
      return new Fault("too_many_subscriptions", { detail: `Only ${max} subscriptions per connection are allowed now.`, max });
    return undefined;
  }

  #heartbeat(nowMs: number): void {
    this.#heartbeatMs = nowMs + STREAM_HEARTBEAT_INTERVAL_S * 1000;
    const { watch } = this.#context.venue;
    const quiet = [...this.#subscriptions.tickers()].flatMap((ticker) => watch.quiet(ticker) ?? []);
    this.#send({ type: "heartbeat", time_msc: nowMs, quiet });
  }

  #error(id: MessageId, fault: Fault, more: Pick<ErrorPlace, "closeCode" | "expectedSeq"> = {}): ErrorMessage {
    return errorMessageOf(fault, { id, connectionId: this.admission.id, docsBase: this.#context.docsBase, ...more });
  }
}
