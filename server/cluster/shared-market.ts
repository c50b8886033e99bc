import type { Pool } from "pg";
import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import type { KlineTable } from "#lib/market/kline-store";
import type { Redis } from "#lib/redis";
import { createFollower } from "#server/bus/redis-follower";
import { createPublisher, type Publisher } from "#server/bus/redis-publisher";
import { raiseFence } from "#server/bus/redis-writer";
import { reportRefusals } from "#server/engine/interruptions";
import { type Producer, startProducer } from "#server/engine/producer";
import type { KlineWriter } from "#server/engine/recorder";
import { newEpoch } from "#server/events/event";
import { speakerIn } from "#server/feed/feed";
import { leasedMender, type MarketOptions, type RunningMarket, readSide, withRoom } from "#server/market";
import { createProjection } from "#server/view/projection";
import { createFollowing } from "./following";
import { competeForLease, type Lease } from "./lease";
import type { TickForwarder } from "./tick-forwarder";

/** A node waits this long for the newest records before it starts without them. */
const EDGE_START_MAX_MS = 1_000;
/** A node that may produce them itself also waits for the lease. */
const PRODUCER_START_MAX_MS = 6_000;
/** After a database restore, a token that was used before must not be used again. */
const RAISE_TOKEN = "UPDATE venue_lease SET token = $3, holder = NULL WHERE venue = $1 AND token = $2";
/** Before the first event. */
const NO_EPOCH = "none";
const PUSH_RETRY_AFTER_S = 1;

export interface SharedMarketOptions extends Omit<MarketOptions, "openJournals"> {
  redis: Redis;
  pool: Pick<Pool, "query">;
  /** False for a node that never produces the events (ROLE=edge). */
  produces: boolean;
  announceHistoryChange: NonNullable<MarketOptions["announceHistoryChange"]>;
  /** Where other nodes reach this one. */
  address: string;
  /** Sends pushed ticks to the lease holder at an address. */
  forwardPush: TickForwarder["forward"];
  /** The same for pushed klines. */
  forwardKlines: TickForwarder["forwardKlines"];
}

/** What produces and publishes the events while this node holds the lease. */
interface Holding {
  readonly producer: Producer;
  readonly publisher: Publisher;
  readonly push: Producer["push"];
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Begins to write with the lease. A refused write means that it is lost. Redis is the journal of nodes. */
async function leasedWriter(table: Pick<KlineTable, "beginWriter">, { token, giveUp }: Lease): Promise<KlineWriter> {
  function refused(): Error {
    giveUp();
    return new Error("another node holds the lease; nothing was written");
  }
  const writer = await table.beginWriter(token, 0);
  if (writer === null) throw refused();
  return {
    async writeBatch(klines, quotes, ticks) {
      if (!(await writer.write(klines, quotes, ticks, writer.stored))) throw refused();
    },
  };
}

/**
 * Starts a venue that several nodes run. Every node follows the events in Redis and answers from them; the one that holds the
 * lease also produces them. A new holder continues from what the last one published and stored, under a new epoch.
 */
export async function startSharedMarket(options: SharedMarketOptions): Promise<RunningMarket> {
  const { venue, catalogue, store, writer, mender, feed, redis, pool, produces, address, forwardPush, clock } = options;
  const log = options.log.child({ venue });
  const stopping = new AbortController();
  const leaving = new AbortController();
  const projection = createProjection({ catalogue, store, clock, epoch: NO_EPOCH, sinceMs: clock.now() });
  const follower = createFollower({ redis, venue, projection, clock, log });
  const { isBehind, closedUpTo, lookBack, ...following } = createFollowing({
    projection,
    reachedMs: () => follower.header()?.reachedMs,
    problem: follower.problem,
    keepsTime: () => feed?.keepsTime ?? false,
    clock,
    log,
  });
  let holding: Holding | undefined;

  /**
   * Fences off earlier holders and waits until their last events are in the projection. False when Redis is unreachable: the
   * store is then newer than the projection.
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
    const caughtUp = await takeOver(lease, over);
    const before = follower.isRecent() ? follower.header() : undefined;
    const epoch = newEpoch();
    const own = createProjection({ catalogue, store, clock, epoch, sinceMs: null, remembers: false });
    const tickers = catalogue.list().map(({ ticker }) => ticker);
    if (before !== undefined && caughtUp) own.view.adopt(projection.view, tickers);
    let problem: Producer["feedProblem"] = () => null;
    const publisher = createPublisher({
      ...{ redis, venue, token: lease.token, epoch, address, clock, log },
      problem: () => problem(),
      speakers: feed?.voices?.speakers,
      onFenced: lease.giveUp,
    });
    const producer = await startProducer({
      ...options,
      writer: writer && (await leasedWriter(writer, lease)),
      mender: mender && leasedMender(mender, lease, options.announceHistoryChange),
      start: { originMs: lease.originMs, ...(before && { fromMs: before.reachedMs }) },
      epoch,
      projection: own,
      publish: publisher.publish,
      onStoredLate: () => options.announceHistoryChange(),
    });
    problem = producer.feedProblem;
    publisher.start();
    const push = withRoom(options.requireRoom, (ticks: readonly Tick[]) => pushTo(producer, publisher, ticks));
    holding = { producer, publisher, push: reportRefusals(push, { catalogue, lacks: producer.lacks, clock }) };
    await aborted(over);
    holding = undefined;
    await producer.stop();
    await publisher.stop();
  }

  /**
   * Accepts ticks once another holder would continue from them: when Redis has their events or, while Redis is unreachable, when
   * they are stored.
   */
  async function pushTo(producer: Producer, publisher: Publisher, ticks: readonly Tick[]) {
    const judged = await producer.push(ticks);
    if ((await publisher.published()) || (!redis.connected() && (await producer.stored()))) return judged;
    const lost = holding?.publisher !== publisher;
    throw new Fault("service_unavailable", {
      detail: lost ? "Another node now takes the ticks of this venue." : "Neither Redis nor the database takes ticks right now.",
      retry_after: PUSH_RETRY_AFTER_S,
    });
  }

  const running = Promise.all([follower.run(stopping.signal), following.dropWhileBehind(stopping.signal)]);
  const lease = { pool, venue, holder: address, able: redis.connected, clock, log };
  const competing = produces ? competeForLease(lease, leaving.signal, hold) : Promise.resolve();
  await Promise.race([follower.begun, clock.wait(produces ? PRODUCER_START_MAX_MS : EDGE_START_MAX_MS, stopping.signal)]);
  void lookBack();

  /** The holder knows it first. */
  const speaker = (ticker: string) =>
    holding ? (feed?.voices?.speaker(ticker) ?? null) : speakerIn(follower.header()?.speakers, ticker);

  return {
    ...readSide(options, projection, speaker),
    get epoch() {
      return projection.recent.epoch();
    },
    ...(feed?.keepsTime && { now: () => follower.header()?.reachedMs ?? clock.now() }),
    isBehind,
    closedUpTo,
    async historyChanged(ticker, minutes) {
      await following.historyChanged(ticker, minutes);
      await holding?.producer.historyChanged(ticker, minutes);
    },
    feedProblem: () => follower.problem() ?? follower.header()?.problem ?? null,
    get push() {
      return options.acceptsPush ? holding?.push : undefined;
    },
    ...(options.acceptsPush && {
      forwardPush: (body, tickers) => forwardPush({ venue, tickers }, follower.header()?.address, body),
    }),
    get mend() {
      const mend = holding?.producer.mend;
      return mend && withRoom(options.requireRoom, mend);
    },
    ...(mender && {
      forwardKlines: (body, push) => options.forwardKlines({ venue, ...push }, follower.header()?.address, body),
    }),
    async handOver() {
      leaving.abort();
      await competing;
    },
    async stop() {
      leaving.abort();
      await competing;
      stopping.abort();
      await running;
    },
  };
}
