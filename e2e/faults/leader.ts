import { expect, test, vi } from "vitest";
import { MINUTE_MS } from "#lib/units";
import type { Node } from "./node";
import type { Scene } from "./scene";
import { expectAgreement, memory, print, seconds, untilUpToDate } from "./verdict";

const PAUSE_MS = 10_000;
/** Every ticker has ticks in the minute that closes. */
const FED_BEFORE_TURN_MS = 5_000;
const LOOK = { interval: 20 };

async function leaderOf({ cluster }: Scene): Promise<Node> {
  return (await vi.waitUntil(() => cluster.leader(), LOOK)) as Node;
}

/** Resolves when a minute has ended and its klines are about to close. The feeder pauses until shortly before. */
async function minuteTurned({ load }: Scene): Promise<void> {
  const turnMs = Math.ceil((Date.now() + FED_BEFORE_TURN_MS) / MINUTE_MS) * MINUTE_MS;
  const until = (ms: number) => vi.waitUntil(() => Date.now() >= ms, { interval: 20, timeout: 2 * MINUTE_MS });
  await load.pause();
  await until(turnMs - FED_BEFORE_TURN_MS);
  load.resume();
  await until(turnMs);
}

/** Resolves to the milliseconds until another node had the lease. */
async function takenOver(scene: Scene, from: Node, sinceMs: number): Promise<number> {
  await vi.waitUntil(async () => {
    const [row] = await scene.cluster.query<{ holder: string | null }>("SELECT holder FROM venue_lease WHERE venue = 'live'");
    return row?.holder && row.holder !== from.url;
  }, LOOK);
  return Date.now() - sinceMs;
}

/** Faults of the node that produces the events. */
export function leaderCases(scene: () => Scene): void {
  test("the other node takes over when the leader is killed while a minute closes", async () => {
    const before = await memory(scene());
    await minuteTurned(scene());
    const leader = await leaderOf(scene());
    const sinceMs = Date.now();
    await leader.kill9();
    const takeoverMs = await takenOver(scene(), leader, sinceMs);
    const upToDateMs = await untilUpToDate(scene(), sinceMs);
    print(
      `leader killed: taken over after ${takeoverMs} ms (documented: 5000), every client up to date after ${seconds(upToDateMs)} s`,
    );
    await leader.start();
    await expectAgreement(scene(), before);
  });

  test("the other node takes over at once when the leader stops cleanly", async () => {
    const before = await memory(scene());
    const leader = await leaderOf(scene());
    const sinceMs = Date.now();
    const [code, takeoverMs] = await Promise.all([leader.stop(), takenOver(scene(), leader, sinceMs)]);
    const upToDateMs = await untilUpToDate(scene(), sinceMs);
    print(
      `leader stopped: taken over after ${takeoverMs} ms (documented: 1000), every client up to date after ${seconds(upToDateMs)} s`,
    );
    expect(code).toBe(0);
    await leader.start();
    await expectAgreement(scene(), before);
  });

  test("nothing is accepted from a leader that comes back after a pause of 10 s", async () => {
    const before = await memory(scene());
    const leader = await leaderOf(scene());
    const sinceMs = Date.now();
    leader.pause();
    try {
      const takeoverMs = await takenOver(scene(), leader, sinceMs);
      const upToDateMs = await untilUpToDate(scene(), sinceMs);
      print(`leader paused: taken over after ${takeoverMs} ms, every client up to date after ${seconds(upToDateMs)} s`);
      await vi.waitUntil(() => Date.now() - sinceMs >= PAUSE_MS, LOOK);
    } finally {
      leader.resume();
    }
    await vi.waitUntil(() => leader.output().includes("no longer holds the lease"), LOOK);
    await expectAgreement(scene(), before);
  });
}
