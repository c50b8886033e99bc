import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished, vi } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import { collectingLog } from "#lib/testing/collecting-log";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { MINUTE_MS } from "#lib/units";
import { type Cursor, createCursor } from "#server/event-log/cursor";
import type { Leading } from "#server/event-log/event-log";
import { createAppender } from "#server/event-log/redis-appender";
import { followRedis, type RedisFollower } from "#server/event-log/redis-follower";
import { COLUMNS_TEXT, type Header, LOG_KEYS, toRow } from "#server/event-log/wire";
import type { MarketEvent } from "#server/events/event";
import type { Redis } from "#server/store/database/redis";
import { createProjection, type Projection } from "#server/view/projection";
import { TEST_EPOCH } from "./events";
import { createMemoryKlines } from "./memory-klines";

const VENUE = "live";
const log = collectingLog([], "warn");

/** Events come within milliseconds. */
export const SOON = { interval: 5 };

/** An empty projection. */
export function emptyProjection(): Projection {
  const parts = { catalogue: createSandboxCatalogue(), store: createMemoryKlines(), clock: systemClock };
  return createProjection({ ...parts, epoch: "none", sinceMs: null });
}

/** A leader that says nothing of its venue. */
export function leaderOf(given: Partial<Leading> & { readonly epoch?: string } = {}): Leading {
  const { epoch = TEST_EPOCH, ...rest } = given;
  return {
    token: 1,
    over: new AbortController().signal,
    standing: () => ({ epoch, reachedMs: 0, address: "http://sender", problem: null }),
    newest: () => [],
    onFenced: () => undefined,
    ...rest,
  };
}

/** A node that follows the live venue until it is paused or the test ends. */
interface FollowingNode {
  readonly follower: RedisFollower;
  readonly cursor: Cursor;
  readonly projection: Projection;
  /** What its projection passed to subscribers, in order. */
  readonly events: MarketEvent[];
  /** Stops following and loses its connection; its state stays. */
  pause(): Promise<void>;
  resume(): void;
}

/** Starts a follower with an empty projection. */
export function followVenue(redis: Redis): FollowingNode {
  const projection = emptyProjection();
  const cursor = createCursor(projection);
  const events: MarketEvent[] = [];
  projection.follow((batch) => events.push(...batch));
  const start = () => followRedis({ redis, venue: VENUE, cursor, clock: systemClock, log });
  let follower = start();
  const node: FollowingNode = {
    get follower() {
      return follower;
    },
    cursor,
    projection,
    events,
    pause: () => follower.stop(),
    resume() {
      follower = start();
    },
  };
  onTestFinished(() => node.pause());
  return node;
}

/**
 * Resolves when a node receives what is published from then on; before that it restores its state without notifying
 * subscribers.
 */
export async function listening(node: FollowingNode): Promise<FollowingNode> {
  await vi.waitUntil(() => !node.follower.problem()?.includes("cannot be read from Redis"), SOON);
  return node;
}

/** Resolves when a node has everything that is in Redis now. */
export async function caughtUp(node: FollowingNode): Promise<void> {
  const { follower } = await listening(node);
  await follower.caughtUp(AbortSignal.timeout(MINUTE_MS));
}

interface SenderSettings extends Partial<Leading> {
  epoch?: string;
  clock?: Clock;
}

type Sender = ReturnType<typeof createAppender>;

/** Begins to append to the live venue; it ends with the test. */
export function appendTo(redis: Redis, { clock = systemClock, ...leading }: SenderSettings = {}): Sender {
  const appender = createAppender({ redis, venue: VENUE, leading: leaderOf(leading), clock, log });
  appender.begin();
  onTestFinished(() => appender.stop());
  return appender;
}

/** Appends events and waits until they are in Redis. */
export async function sendWhole(appender: Sender, events: readonly MarketEvent[]): Promise<void> {
  appender.append(events, 0);
  await vi.waitUntil(() => appender.appended(), SOON);
}

/** The keys of the venue's events in Redis. */
export function logKeys(redis: Redis) {
  const [events, state] = [redis.key(VENUE, LOG_KEYS.events), redis.key(VENUE, LOG_KEYS.state)];
  return { events, state };
}

/** The fields of a batch as a sender writes them. */
export function batchFields(header: Partial<Header>, events: readonly MarketEvent[]): Record<string, string> {
  const whole: Header = { token: 1, n: 1, epoch: TEST_EPOCH, reachedMs: 0, address: "", problem: null, ...header };
  return { header: JSON.stringify(whole), columns: COLUMNS_TEXT, events: JSON.stringify(events.map(toRow)) };
}

/** True when each event follows the last one of its topic, or carries the number it replaces; the first ones follow 0. */
export function unexplained(events: readonly MarketEvent[]): MarketEvent[] {
  const last = new Map<string, number>();
  return events.filter(({ topic, seq, merged = 0 }) => {
    const before = last.get(topic) ?? 0;
    last.set(topic, seq);
    return seq !== before + merged + 1;
  });
}

/** A connection to Redis on which an answer can be lost. */
interface LosingWay {
  readonly url: string;
  /** Redis executes the next batch, its answer is lost, and the connection breaks. Resolves then. */
  loseAnswer(): Promise<void>;
}

/** Opens a connection that stays open until the test ends. */
export async function losingWay(port: number): Promise<LosingWay> {
  const sockets = new Set<Socket>();
  let lost: (() => void) | undefined;
  const server = createServer((socket) => {
    const onward = connect(port, "127.0.0.1");
    let sent = false;
    for (const end of [socket, onward]) end.on("error", () => undefined).once("close", () => sockets.delete(end));
    sockets.add(socket).add(onward);
    socket.on("data", (chunk) => {
      sent ||= lost !== undefined && chunk.includes("reachedMs");
      onward.write(chunk);
    });
    onward.on("data", (chunk) => {
      // A batch is answered with its id as text; the answer to a ping has none.
      if (!sent || !chunk.includes("$")) return void socket.write(chunk);
      socket.destroy();
      onward.destroy();
      lost?.();
      lost = undefined;
    });
    socket.on("close", () => onward.destroy());
    onward.on("close", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswer: () =>
      new Promise((resolve) => {
        lost = resolve;
      }),
  };
}
