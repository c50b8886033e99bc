import type { Pool } from "pg";
import type { Kline } from "#lib/contract/kline";
import { isClosed } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import { Fault } from "#lib/fault";
import type { KlineTable } from "#lib/market/kline-store";
import type { Redis } from "#lib/redis";
import { repeat } from "#lib/repeat";
import { createFollower } from "#server/bus/redis-follower";
import { createPublisher, type Publisher } from "#server/bus/redis-publisher";
import { raiseFence } from "#server/bus/redis-writer";
import { type Producer, startProducer } from "#server/engine/producer";
import { newEpoch } from "#server/events/event";
import { known, type MarketOptions, type RunningMarket } from "#server/market";
import { createProjection } from "#server/view/projection";
import { competeForLease, type Lease } from "./lease";
import type { TickForwarder } from "./tick-forwarder";

/** A node waits this long for the newest records before it answers without them. */
const EDGE_START_MAX_MS = 1_000;
/** One that may make them itself waits for the lease too. */
const PRODUCER_START_MAX_MS = 6_000;
/** By then whoever makes the events has written a closed kline. */
const WRITTEN_AFTER_MS = 5_000;
/** Whoever makes the events says each second how far it is; past this they are on their way, or the way is broken. */
const BEHIND_AFTER_MS = 3_000;
/** How long such a node may answer klines from memory; rows are stored at least as often. */
const BEHIND_LOOK_MS = 500;
/** A token that was given out before, by a database that was put back since, must not be given out again. */
const RAISE_TOKEN = "UPDATE venue_lease SET token = $3, holder = NULL WHERE venue = $1 AND token = $2";
/** Before any event came. */
const NO_EPOCH = "none";
const PUSH_RETRY_AFTER_S = 1;

export interface SharedMarketOptions extends Omit<MarketOptions, "writer"> {
  redis: Redis;
  pool: Pick<Pool, "query">;
  /** Absent where nothing is stored. */
  writer?: Pick<KlineTable, "writeBatchAs">;
  /** Tells every node that stored history changed. */
  tellHistory: () => void;
  /** False for a node that never makes the events. */
  produces: boolean;
  /** Where other nodes reach this one. */
  address: string;
  /** Sends pushed ticks to the holder of the lease at an address. */
  forwardPush: TickForwarder["forward"];
}

/** What makes the events, while this node holds the lease. */
interface Holding {
  readonly producer: Producer;
  readonly publisher: Publisher;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Writes with the lease's token; whoever is refused does not hold it any more. */
function leasedWriter(writer: Pick<KlineTable, "writeBatchAs">, { token, giveUp }: Lease) {
  return {
    async writeBatch(...[klines, quotes]: [Parameters<KlineTable["writeBatch"]>[0], Parameters<KlineTable["writeBatch"]>[1]]) {
      if (await writer.writeBatchAs(token, klines, quotes)) return;
      giveUp();
      throw new Error("another node holds the lease; nothing was written");
    },
  };
}

/**
 * Starts a venue that several nodes share: each follows the events in Redis, and of those that may make them the one with the
 * lease does. A new holder goes on from what the last one published and stored, under a new epoch.
 */
export async function startSharedMarket(options: SharedMarketOptions): Promise<RunningMarket> {
  const { venue, catalogue, store, writer, feed, redis, pool, produces, address, forwardPush, clock } = options;
  const log = options.log.child({ venue });
  const stopping = new AbortController();
  const leaving = new AbortController();
  const alignment = createAlignment();
  const projection = createProjection({ catalogue, store, clock, epoch: NO_EPOCH, sinceMs: clock.now() });
  const follower = createFollower({ redis, venue, projection, clock, log });
  let holding: Holding | undefined;

  /**
   * What was published last is in the projection then, and nobody with a lower token publishes more. False while Redis is away:
   * what is stored is newer then than what this node heard.
   */
  async function takeOver({ token }: Lease, over: AbortSignal): Promise<boolean> {
    let highest: number;
    try {
      highest = await raiseFence(redis, venue, token);
    } catch (error) {
      log.warn({ err: error }, "Redis is unreachable; continuing from stored data");
      return false;
    }
    if (highest >= token) {
      await pool.query(RAISE_TOKEN, [venue, token, highest]);
      throw new Error(`the database was restored to an earlier state; lease tokens continue from ${highest}`);
    }
    await follower.caughtUp(over);
    return true;
  }

  async function hold(lease: Lease): Promise<void> {
    const over = AbortSignal.any([lease.lost, leaving.signal]);
    const heardAll = await takeOver(lease, over);
    const before = follower.isRecent() ? follower.header() : undefined;
    const epoch = newEpoch();
    const own = createProjection({ catalogue, store, clock, epoch, sinceMs: null, remembers: false });
    const tickers = catalogue.list().map(({ ticker }) => ticker);
    if (before !== undefined && heardAll) own.view.adopt(projection.view, tickers);
    let problem: Producer["feedProblem"] = () => null;
    const publisher = createPublisher({
      ...{ redis, venue, token: lease.token, epoch, address, clock, log },
      problem: () => problem(),
      onFenced: lease.giveUp,
    });
    const producer = await startProducer({
      ...options,
      writer: writer && leasedWriter(writer, lease),
      start: { originMs: lease.originMs, ...(before && { fromMs: before.reachedMs }) },
      epoch,
      projection: own,
      publish: publisher.publish,
      onStoredLate: options.tellHistory,
    });
    problem = producer.feedProblem;
    publisher.start();
    holding = { producer, publisher };
    await aborted(over);
    holding = undefined;
    await producer.stop();
    await publisher.stop();
  }

  /** True while this node lacks the newest events: what is stored may be newer than its view. */
  function isBehind(): boolean {
    const header = follower.header();
    if (header === undefined) return false;
    // A feed that keeps time says itself where it is.
    return follower.problem() !== null || (!feed?.keepsTime && clock.now() - header.reachedMs > BEHIND_AFTER_MS);
  }

  /** While this node is behind, windows of klines are read anew: the holder goes on writing what is not heard here. */
  const readAnewWhileBehind = (signal: AbortSignal) =>
    repeat({ clock, signal, pause: BEHIND_LOOK_MS }, () => {
      if (isBehind()) projection.forget(undefined, () => true);
    });

  /** Taken when every other node can see it too, or when nobody could while this node still holds the lease. */
  async function push({ producer, publisher }: Holding, ticks: readonly Tick[]) {
    const judged = await producer.push(ticks);
    const published = await publisher.published();
    if (published || (!redis.connected() && holding?.publisher === publisher)) return judged;
    throw new Fault("service_unavailable", {
      detail: "Another node now takes the ticks of this venue.",
      retry_after: PUSH_RETRY_AFTER_S,
    });
  }

  const following = Promise.all([follower.run(stopping.signal), readAnewWhileBehind(stopping.signal)]);
  const lease = { pool, venue, holder: address, able: redis.connected, clock, log };
  const competing = produces ? competeForLease(lease, leaving.signal, hold) : Promise.resolve();
  await Promise.race([follower.begun, clock.wait(produces ? PRODUCER_START_MAX_MS : EDGE_START_MAX_MS, stopping.signal)]);
  const lookBack = () =>
    projection
      .lookBack(clock.now())
      .catch((error: unknown) => log.warn({ err: error }, "cannot read stored minutes; earlier feed gaps stay unknown"));
  void lookBack();

  return {
    ...known(options, projection),
    get epoch() {
      return projection.recent.epoch();
    },
    ...(feed?.keepsTime && { now: () => follower.header()?.reachedMs ?? clock.now() }),
    isBehind,
    closedUpTo: () => follower.header()?.reachedMs ?? 0,
    async historyChanged(ticker) {
      const writtenMs = clock.now() - WRITTEN_AFTER_MS;
      projection.forget(ticker, (kline: Kline) => !isClosed(kline, writtenMs, alignment));
      await lookBack();
      await holding?.producer.historyChanged(ticker);
    },
    feedProblem: () => follower.problem() ?? follower.header()?.problem ?? null,
    get push() {
      const current = holding;
      return options.acceptsPush && current ? (ticks: readonly Tick[]) => push(current, ticks) : undefined;
    },
    ...(options.acceptsPush && { forwardPush: (body) => forwardPush(venue, follower.header()?.address, body) }),
    async handOver() {
      leaving.abort();
      await competing;
    },
    async stop() {
      leaving.abort();
      await competing;
      stopping.abort();
      await following;
    },
  };
}
