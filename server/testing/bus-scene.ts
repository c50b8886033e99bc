import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished, vi } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import type { Redis } from "#lib/redis";
import { collectingLog } from "#lib/testing/collecting-log";
import { createMemoryKlines } from "#lib/testing/memory-klines";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { createFollower, type Follower } from "#server/bus/redis-follower";
import { createPublisher, type Publisher } from "#server/bus/redis-publisher";
import { BUS_KEYS, COLUMNS_TEXT, type Header, toRow } from "#server/bus/wire";
import type { MarketEvent } from "#server/events/event";
import { createProjection, type Projection } from "#server/view/projection";
import { TEST_EPOCH } from "./events";

const VENUE = "live";
const log = collectingLog([], "warn");

/** Longest time a test waits for an event. */
export const SOON = { timeout: 10_000, interval: 5 };

/** A node that follows the live venue until it is paused or the test ends. */
interface FollowingNode {
  readonly follower: Follower;
  readonly projection: Projection;
  /** What its projection passed to subscribers, in order. */
  readonly events: MarketEvent[];
  /** Stops following and loses its connection; its state stays. */
  pause(): Promise<void>;
  resume(): void;
}

/** Starts a follower with an empty projection. */
export function followVenue(redis: Redis): FollowingNode {
  const parts = { catalogue: createSandboxCatalogue(), store: createMemoryKlines(), clock: systemClock };
  const projection = createProjection({ ...parts, epoch: "none", sinceMs: null });
  const events: MarketEvent[] = [];
  projection.follow((batch) => events.push(...batch));
  const follower = createFollower({ redis, venue: VENUE, projection, clock: systemClock, log });
  let stopping = new AbortController();
  let running = follower.run(stopping.signal);
  const node: FollowingNode = {
    ...{ follower, projection, events },
    async pause() {
      stopping.abort();
      await running;
    },
    resume() {
      stopping = new AbortController();
      running = follower.run(stopping.signal);
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
  await vi.waitUntil(() => !node.follower.problem()?.includes("Redis is unreachable"), SOON);
  return node;
}

/** Resolves when a node has everything that is in Redis now. */
export async function caughtUp(node: FollowingNode): Promise<void> {
  const { follower } = await listening(node);
  await follower.caughtUp(AbortSignal.timeout(SOON.timeout));
}

interface SenderSettings {
  token?: number;
  epoch?: string;
  clock?: Clock;
  onFenced?: () => void;
}

/** Starts a publisher of the live venue; it ends with the test. */
export function publishVenue(redis: Redis, settings: SenderSettings = {}): Publisher {
  const { token = 1, epoch = TEST_EPOCH, clock = systemClock, onFenced = () => undefined } = settings;
  const place = { redis, venue: VENUE, token, epoch, address: "http://sender", clock, log } as const;
  const publisher = createPublisher({ ...place, problem: () => null, onFenced });
  publisher.start();
  onTestFinished(() => publisher.stop());
  return publisher;
}

/** Publishes events and waits until they are in Redis. */
export async function sendWhole(publisher: Publisher, events: readonly MarketEvent[]): Promise<void> {
  publisher.publish(events, 0);
  await vi.waitUntil(() => publisher.published(), SOON);
}

/** The keys of the venue's events in Redis. */
export function busKeys(redis: Redis) {
  const [events, state] = [redis.key(VENUE, BUS_KEYS.events), redis.key(VENUE, BUS_KEYS.state)];
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
