import { vi } from "vitest";
import { findRedis } from "#lib/testing/redis-server";
import { type Balancer, startBalancer } from "./balancer";
import { type Cluster, startCluster } from "./cluster";
import { type Load, startLoad } from "./load";
import { createReference, type Reference, TICKERS } from "./market";
import { type Poller, startPoller } from "./pollers";
import { type Follower, startFollower } from "./streams";

const FOLLOWERS_PER_EDGE_COUNT = 10;

/** A cluster under load with all of its clients. */
export interface Scene {
  readonly cluster: Cluster;
  readonly reference: Reference;
  readonly load: Load;
  readonly followers: readonly Follower[];
  readonly pollers: readonly Poller[];
  close(): Promise<void>;
}

/** The result of findRedis; suites are skipped without one. */
export const REDIS_PROGRAM = findRedis();

/** Starts everything; resolves when each client is subscribed and the feeder pushes. */
export async function openScene(options: { dataDir?: string } = {}): Promise<Scene> {
  const cluster = await startCluster(REDIS_PROGRAM ?? "", options.dataDir);
  const { edges, keys } = cluster;
  const urls = edges.map(({ url }) => url);
  const reference = createReference();
  const load = startLoad({ urls, key: keys.ingest, reference });
  const balancers: Balancer[] = [];
  const followers: Follower[] = [];
  for (const preferred of [urls, urls.toReversed()]) {
    const balancer = await startBalancer(preferred);
    balancers.push(balancer);
    const names = Array.from({ length: FOLLOWERS_PER_EDGE_COUNT }, (_, index) => `client ${followers.length + index + 1}`);
    followers.push(...(await Promise.all(names.map((name) => startFollower(name, balancer.url, keys.read, reference)))));
  }
  // Before its first quote a ticker has no answer.
  const fed = () => followers.every((follower) => TICKERS.every((ticker) => follower.newestMs(ticker) > 0));
  await vi.waitUntil(fed, { interval: 20 });
  const pollers = edges.map((edge) => startPoller(edge, keys.read, reference));
  return {
    cluster,
    reference,
    load,
    followers,
    pollers,
    async close() {
      await load.stop();
      await Promise.all([...followers.map((follower) => follower.close()), ...pollers.map((poller) => poller.stop())]);
      for (const balancer of balancers) balancer.close();
      await cluster.dispose();
    },
  };
}
