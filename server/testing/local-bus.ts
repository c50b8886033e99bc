import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { createMemoryKlines } from "#lib/testing/memory-klines";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { followLocally, type LocalFollower } from "#server/bus/local-follower";
import { type LocalPublisher, startLocalPublisher } from "#server/bus/local-publisher";
import type { MarketEvent } from "#server/events/event";
import { newestRecords } from "#server/view/newest";
import { createProjection, type Projection } from "#server/view/projection";
import { TEST_EPOCH } from "./events";

/** An empty projection. */
export const projectionOf = () =>
  createProjection({
    ...{ catalogue: createSandboxCatalogue(), store: createMemoryKlines(), clock: systemClock },
    ...{ epoch: TEST_EPOCH, sinceMs: null },
  });

/** What an edge worker has of the live venue. */
interface LocalWorker {
  readonly follower: LocalFollower;
  readonly projection: Projection;
  /** What its projection passed to subscribers, in order. */
  readonly events: MarketEvent[];
}

interface LocalBus {
  readonly publisher: LocalPublisher;
  /** What the market process has of the live venue. */
  readonly projection: Projection;
  readonly path: string;
  /** How many readers were cut off. */
  cut(): number;
  /** Connects a worker; resolves when it has the newest records. */
  follow(): Promise<LocalWorker>;
}

/** Opens the channel between a market process and its workers; it ends with the test. */
export async function openLocalBus({ queueMaxBytes }: { queueMaxBytes?: number } = {}): Promise<LocalBus> {
  const file = path.join(tmpdir(), `spotwire-bus-${randomUUID()}.sock`);
  const own: Record<Venue, Projection> = { live: projectionOf(), sandbox: projectionOf() };
  const about = (venue: Venue) => {
    const { view, recent } = own[venue];
    const tickers = createSandboxCatalogue()
      .list()
      .map(({ ticker }) => ticker);
    return {
      epoch: () => recent.epoch(),
      reachedMs: () => systemClock.now(),
      status: () => ({ keepsTime: false, problem: null }),
      state: () => newestRecords({ view, recent, epoch: recent.epoch(), tickers }),
    };
  };
  let cut = 0;
  const onTooSlow = () => {
    cut += 1;
  };
  const made = await startLocalPublisher({
    path: file,
    venues: { live: about("live"), sandbox: about("sandbox") },
    clock: systemClock,
    onTooSlow,
    ...(queueMaxBytes !== undefined && { queueMaxBytes }),
  });
  // As in the market process, view and recent events have what is published.
  for (const venue of ["live", "sandbox"] as const) own[venue].follow((events) => made.publish(venue, events));
  onTestFinished(async () => {
    await made.stop();
    await rm(file, { force: true });
  });
  return {
    publisher: { ...made, publish: (venue, events) => own[venue].apply(events) },
    projection: own.live,
    path: file,
    cut: () => cut,
    async follow() {
      const projections = { live: projectionOf(), sandbox: projectionOf() };
      const events: MarketEvent[] = [];
      projections.live.follow((batch) => events.push(...batch));
      const follower = followLocally({ path: file, projections, clock: systemClock });
      await follower.begun;
      onTestFinished(() => follower.stop());
      return { follower, projection: projections.live, events };
    },
  };
}
