import { expect, test, vi } from "vitest";
import { operations } from "#lib/operations/declarations";
import { fillDisk } from "#server/testing/disk";
import { OPEN_TICKER, STALE_AFTER_S } from "./market";
import type { Node } from "./node";
import { ask } from "./pollers";
import type { Scene } from "./scene";
import { expectAgreement, memory, print, seconds, untilUpToDate } from "./verdict";

const SILENCE_MS = 30_000;
const LOOK = { interval: 50 };

/** What an edge reports about itself. */
async function readiness({ url }: Node): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/api/ready`);
  return { status: response.status, text: await response.text() };
}

/** Resolves when every edge reports this and still serves. */
async function untilEdgesLog({ cluster }: Scene, words: string): Promise<void> {
  await vi.waitUntil(async () => {
    const said = await Promise.all(cluster.edges.map(readiness));
    expect(said.map(({ status }) => status)).toEqual([200, 200]);
    return said.every(({ text }) => text.includes(words));
  }, LOOK);
}

/** How an edge reports the ticker whose market is always open. */
async function stateAt({ cluster }: Scene, edge: Node): Promise<string> {
  const answer = await ask(edge, cluster.keys.read, `/status?tickers=${OPEN_TICKER}`);
  if ("failure" in answer) throw new Error(`${edge.name} answered its status ${answer.failure}`);
  return operations.marketStatus.data.parse(answer.data).items[0]?.market_data_state ?? "";
}

/** Resolves when each edge reports it so. */
export async function untilState(scene: Scene, state: string): Promise<void> {
  for (const edge of scene.cluster.edges) await vi.waitUntil(async () => (await stateAt(scene, edge)) === state, LOOK);
}

/** Makes PostgreSQL write until the disk is full: the space reserved for its log is used up. */
async function untilRefused({ cluster }: Scene): Promise<void> {
  const fillLog = "SELECT pg_logical_emit_message(true, 'ballast', repeat('x', 8000000)) FROM generate_series(1, 4)";
  const takes = () =>
    cluster.query(fillLog).then(
      () => true,
      () => false,
    );
  await vi.waitUntil(async () => !(await takes()), { interval: 1 });
}

/** Resolves when a minute will close within a silence that starts now. The feeder pauses until then. */
async function minuteClosesSoon({ load }: Scene): Promise<void> {
  const within = () => {
    const s = (Date.now() / 1000) % 60;
    return s >= 33 && s <= 52;
  };
  await load.pause();
  await vi.waitUntil(within, { interval: 50 });
  load.resume();
}

/** Faults of Redis and of the network to it. */
export function redisCases(scene: () => Scene): void {
  test("the cluster continues when Redis restarts empty", async () => {
    const { redis } = scene().cluster;
    const before = await memory(scene());
    await redis.kill();
    await untilEdgesLog(scene(), "Redis does not answer");
    await redis.start();
    const upToDateMs = await untilUpToDate(scene(), Date.now());
    print(`Redis empty: every client up to date ${seconds(upToDateMs)} s after it was back`);
    await expectAgreement(scene(), before);
  });

  test("the cluster serves the last known data, reports it, and catches up after Redis was unreachable for 30 s", async () => {
    const { cluster } = scene();
    const before = await memory(scene());
    await minuteClosesSoon(scene());
    await untilUpToDate(scene(), Date.now());
    const sinceMs = Date.now();
    for (const node of cluster.nodes) cluster.doors(node).redis.fallSilent();
    await untilEdgesLog(scene(), "events cannot be read from Redis");
    const reportedMs = Date.now() - sinceMs;
    await untilState(scene(), "stale");
    const staleMs = Date.now() - sinceMs;
    await vi.waitUntil(() => Date.now() - sinceMs >= SILENCE_MS, { ...LOOK, timeout: 2 * SILENCE_MS });
    for (const node of cluster.nodes) cluster.doors(node).redis.speak();
    const upToDateMs = await untilUpToDate(scene(), Date.now());
    await untilState(scene(), "live");
    print(
      `Redis silent: reported after ${seconds(reportedMs)} s, stale after ${seconds(staleMs)} s (set to ${STALE_AFTER_S} s), up to date ${seconds(upToDateMs)} s after it came back`,
    );
    await expectAgreement(scene(), before);
  });
}

/** Faults of PostgreSQL and of its disk. */
export function databaseCases(scene: () => Scene, disk: string | undefined): void {
  test("the cluster keeps streaming while PostgreSQL is unavailable, and stores everything afterwards", async () => {
    const { cluster } = scene();
    const before = await memory(scene());
    await cluster.postgres.kill();
    await untilEdgesLog(scene(), "database does not answer");
    const upToDateMs = await untilUpToDate(scene(), Date.now());
    await cluster.restartPostgres();
    print(`PostgreSQL killed: every client had new data after ${seconds(upToDateMs)} s, without it`);
    await untilUpToDate(scene(), Date.now());
    await expectAgreement(scene(), before);
  });

  test.skipIf(disk === undefined)(
    `the cluster keeps what a full disk cannot store ${disk === undefined ? "(skipped: no disk may be mounted here)" : ""}`,
    async () => {
      const { cluster } = scene();
      const before = await memory(scene());
      const earlier = new Map<Node, number>(cluster.nodes.map((node) => [node, node.output().length]));
      const free = await fillDisk(disk ?? "");
      await untilRefused(scene());
      // The lease is in the database as well, so another node may lead by now.
      const logged = (node: Node) => node.output().slice(earlier.get(node)).includes("recorder cannot write");
      await vi.waitUntil(() => cluster.nodes.some(logged), LOOK);
      const upToDateMs = await untilUpToDate(scene(), Date.now());
      await free();
      const works = () =>
        cluster.query("SELECT 1").then(
          () => true,
          () => false,
        );
      const ended = await Promise.race([cluster.postgres.ended().then(() => true), vi.waitUntil(works, LOOK).then(() => false)]);
      if (ended) await cluster.restartPostgres();
      print(
        `disk full: every client had news ${seconds(upToDateMs)} s later; PostgreSQL ${ended ? "ended and was started again" : "went on by itself"}`,
      );
      await untilUpToDate(scene(), Date.now());
      await expectAgreement(scene(), before);
    },
  );
}
