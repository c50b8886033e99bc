import type { Principal } from "#lib/access/principal";
import type { Clock } from "#lib/clock";
import { ERRORS, type ErrorId } from "#lib/contract/errors";
import { STREAM_REPLAY_MAX_RECORDS } from "#lib/contract/limits";
import { emptyItem, TickerParameter } from "#lib/contract/primitives";
import type { AckOf, Resume, SubscribeParams, Subscription, TickerRejection, UnsubscribeParams } from "#lib/contract/stream";
import type { Listing } from "#lib/domain/instrument";
import { isClosed } from "#lib/domain/kline";
import type { TradingAlignment } from "#lib/domain/timeframe";
import { findListing, suggestNear, suggestTicker } from "#lib/market/tickers";
import type { MarketEvent } from "#server/events/event";
import { type Hub, type Topic, topicOf } from "#server/hub/hub";
import type { Outbox } from "#server/hub/outbox";
import { baselineOf, type Outgoing, updateOf } from "#server/hub/outgoing";
import type { StatusWatch } from "#server/hub/status-watch";
import type { RunningMarket } from "#server/market/market";

/** What the connections of one venue share. */
export interface VenueStreams {
  readonly market: RunningMarket;
  readonly hub: Hub;
  readonly watch: StatusWatch;
  readonly clock: Clock;
  readonly alignment: TradingAlignment;
}

/** The result of a subscribe: the data of its ack, and the messages to send after it. */
interface Subscribed {
  readonly data: AckOf<"subscribe">["data"];
  readonly follow: readonly Outgoing[];
}

interface Judged {
  readonly accepted: readonly Topic[];
  readonly rejected: TickerRejection[];
}

/** The subscriptions of one connection. A class, so that many connections share its methods. */
export class Subscriptions {
  readonly #venue: VenueStreams;
  readonly #outbox: Outbox;
  /** Topics shared with the hub. A short list takes less memory than a set. */
  #topics: Topic[] = [];

  constructor(venue: VenueStreams, outbox: Outbox) {
    this.#venue = venue;
    this.#outbox = outbox;
  }

  get count(): number {
    return this.#topics.length;
  }

  /** All subscriptions, in the order they were made. */
  list(): Subscription[] {
    return this.#topics.map(({ stream, ticker, timeframe }) =>
      timeframe === undefined ? { stream, ticker } : { stream, ticker, timeframe },
    );
  }

  /** Tickers with at least one subscription. */
  tickers(): Set<string> {
    const tickers = new Set<string>();
    for (const { ticker } of this.#topics) tickers.add(ticker);
    return tickers;
  }

  /** Subscribes to the tickers that are allowed; each is judged on its own. An existing subscription does not count twice. */
  add(params: SubscribeParams, principal: Principal): Subscribed {
    const { accepted, rejected } = this.#judge(params, principal, true);
    const { encoding } = this.#outbox;
    const resumed: string[] = [];
    const follow: Outgoing[] = [];
    for (const topic of accepted) {
      if (!this.#follows(topic)) this.#topics.push(this.#venue.hub.subscribe(topic, this.#outbox));
      const missed = params.resume && this.#missed(topic, params.resume, STREAM_REPLAY_MAX_RECORDS - follow.length);
      if (missed !== undefined) {
        resumed.push(topic.ticker);
        for (const event of missed) follow.push(updateOf(event, encoding));
        continue;
      }
      const current = params.snapshot === false && params.resume === undefined ? undefined : this.#current(topic);
      if (current !== undefined) follow.push(baselineOf(current, encoding));
    }
    // A copy has no room for more, which a growing list keeps for up to 16 topics.
    this.#topics = [...this.#topics];
    const tickers = accepted.map(({ ticker }) => ticker);
    const data = {
      accepted: tickers,
      rejected,
      ...(params.resume && { resumed }),
      quiet: tickers.flatMap((ticker) => this.#venue.watch.quiet(ticker) ?? []),
      subscriptions: this.count,
    };
    return { data, follow };
  }

  /** Unsubscribes; a ticker without a subscription is accepted too. */
  remove(params: UnsubscribeParams, principal: Principal): AckOf<"unsubscribe">["data"] {
    const { accepted, rejected } = this.#judge(params, principal, false);
    for (const topic of accepted) this.#drop(topic);
    return { accepted: accepted.map(({ ticker }) => ticker), rejected, subscriptions: this.count };
  }

  /** Ends subscriptions to instruments that are no longer listed, and returns their tickers. */
  dropUnlisted(): string[] {
    const gone = this.#topics.filter(({ ticker }) => this.#venue.market.catalogue.find(ticker) === undefined);
    for (const topic of gone) this.#drop(topic);
    return [...new Set(gone.map(({ ticker }) => ticker))];
  }

  /** True while the principal may read every subscribed instrument. */
  permitted({ mayRead }: Principal): boolean {
    for (const ticker of this.tickers()) {
      const listing = this.#venue.market.catalogue.find(ticker);
      if (listing !== undefined && !mayRead(listing)) return false;
    }
    return true;
  }

  /** Ends all subscriptions. */
  clear(): void {
    for (const topic of this.#topics) this.#venue.hub.unsubscribe(topic, this.#outbox);
    this.#topics = [];
  }

  #drop({ name }: Topic): void {
    const topic = this.#venue.hub.find(name);
    if (topic === undefined || !this.#topics.includes(topic)) return;
    this.#topics = this.#topics.filter((other) => other !== topic);
    this.#venue.hub.unsubscribe(topic, this.#outbox);
  }

  #follows({ name }: Topic): boolean {
    const topic = this.#venue.hub.find(name);
    return topic !== undefined && this.#topics.includes(topic);
  }

  #judge(params: UnsubscribeParams, principal: Principal, adding: boolean): Judged {
    const scene = { market: this.#venue.market, mayRead: principal.mayRead };
    const accepted = new Map<string, Topic>();
    const rejected: TickerRejection[] = [];
    // Only the first unknown ticker gets a suggestion: a list of a hundred costs no more than one.
    let suggesting = true;
    let room = principal.limits.subscriptionsPerConnection - this.count;
    for (const text of new Set(params.tickers)) {
      const read = TickerParameter.safeParse(text);
      if (!read.success) {
        const { length } = params.tickers;
        const detail = text.trim() === "" ? `\`tickers\` ${emptyItem(params.tickers.indexOf(text), length)}` : undefined;
        rejected.push(rejection(text, errorOf("invalid_ticker", detail), suggestTicker(scene, [text])));
        continue;
      }
      const topic = topicOf(params.stream, read.data, params.timeframe);
      const followed = this.#follows(topic);
      const listing = findListing(scene, read.data);
      const refusal = followed ? undefined : refusalOf(listing, params);
      if (accepted.has(topic.name)) continue;
      if (refusal !== undefined) {
        const suggestion = suggesting && listing === undefined ? suggestNear(scene, read.data) : undefined;
        suggesting &&= listing !== undefined;
        rejected.push(rejection(text, refusal, suggestion));
      } else if (adding && !followed && room < 1) rejected.push({ ticker: text, ...errorOf("too_many_subscriptions") });
      else {
        accepted.set(topic.name, topic);
        if (!followed) room -= 1;
      }
    }
    return { accepted: [...accepted.values()], rejected };
  }

  /** The records a client missed since it left off; undefined when they are unknown or too many to replay. */
  #missed({ name, ticker }: Topic, { epoch, seq }: Resume, max: number): readonly MarketEvent[] | undefined {
    const last = typeof seq === "number" ? seq : Object.entries(seq).find(([name]) => name.trim().toUpperCase() === ticker)?.[1];
    const events = last === undefined ? undefined : this.#venue.market.recent.since(name, epoch, last);
    return events !== undefined && events.length <= max ? events : undefined;
  }

  /** The current record of a topic as an event; undefined before the first record. */
  #current({ name, stream, ticker, timeframe }: Topic): MarketEvent | undefined {
    const { market, clock, alignment } = this.#venue;
    const place = { topic: name, epoch: market.epoch, seq: market.recent.seq(name) };
    if (stream === "kline") {
      const record = timeframe && market.view.recentKlines(ticker, timeframe).at(-1);
      const nowMs = market.timeAt(clock.now());
      return record && { ...place, type: "kline", record, closed: isClosed(record, nowMs, alignment) };
    }
    if (stream === "quote") {
      const record = market.view.quote(ticker);
      return record && { ...place, type: "quote", record };
    }
    const record = market.view.snapshot(ticker);
    return record && { ...place, type: "snapshot", record };
  }
}

type Refusal = Omit<TickerRejection, "ticker">;

function errorOf(message: ErrorId, detail: string = ERRORS[message].title): Refusal {
  return { code: ERRORS[message].code, message, detail };
}

function rejection(ticker: string, refusal: Refusal, suggestion: string | undefined): TickerRejection {
  return { ticker, ...refusal, ...(suggestion !== undefined && { suggestion }) };
}

/** Why a listing does not support the subscription; undefined when it does. */
function refusalOf(listing: Listing | undefined, { stream, timeframe }: UnsubscribeParams): Refusal | undefined {
  if (listing === undefined) return errorOf("unknown_ticker");
  if (!listing.streams.includes(stream)) return errorOf("invalid_parameter", `This instrument has no ${stream} stream.`);
  if (timeframe !== undefined && !listing.timeframes.includes(timeframe)) return errorOf("unsupported_timeframe");
  return undefined;
}
