import { expect, vi } from "vitest";
import type { PlainKline } from "../plain-klines";
import { TICKERS, TIMEFRAMES } from "./market";
import { type Memory, measure } from "./memory";
import { askKlines, numbersOf } from "./pollers";
import type { Scene } from "./scene";
import type { Follower } from "./streams";

/** The documented limit is 10 s, and each case prints what it took. These end a wait for what never comes, however slow the machine. */
const WHOLE_MAX_MS = 180_000;
const AGREE_MAX_MS = 120_000;
const LOOK = { interval: 20 };
const MEMORY_SHARE = 0.1;
/** One-time memory of a process: compiled code, a lease that it holds now. */
const MEMORY_NOISE_BYTES = 12 * 1_048_576;
/** Memory of a node per tick for clients that resume, kept for five minutes at most: eleven events. This is no growth. */
const KEPT_BYTES_PER_TICK = 8_192;
const MIB = 1_048_576;
/** Number of problems that are shown. */
const SHOWN_COUNT = 12;
/** Lines of each node's log that are shown when a client is late. */
const SHOWN_LINES_COUNT = 40;
/** Number of a run's ticks whose fate may be unknown. */
const UNCERTAIN_MAX_COUNT = 300;

export const seconds = (ms: number) => (ms / 1000).toFixed(2);

/** Prints a line next to the names of the tests. */
export function print(text: string): void {
  process.stdout.write(`  ${text}\n`);
}

function lastLines(log: string): string {
  return log.trimEnd().split("\n").slice(-SHOWN_LINES_COUNT).join("\n");
}

/** Clients and edges without a tick made since then, by ticker. */
function behind({ followers, pollers }: Scene, sinceMs: number): string[] {
  const knows = (one: Pick<Follower, "newestMs">) => TICKERS.every((ticker) => one.newestMs(ticker) >= sinceMs);
  const clients = followers.filter((one) => !knows(one)).map(({ name }) => name);
  return [...clients, ...pollers.filter((one) => one.edge.running() && !knows(one)).map(({ edge }) => edge.name)];
}

/**
 * Resolves when every client and every edge has a tick of each ticker made at `sinceMs` or later; returns how long that took.
 * @param aheadMs how far that instant is in the future
 */
export async function untilUpToDate(scene: Scene, sinceMs: number, aheadMs = 0): Promise<number> {
  const timeout = WHOLE_MAX_MS + Math.max(aheadMs, 0);
  await vi
    .waitUntil(() => behind(scene, sinceMs).length === 0, { ...LOOK, timeout })
    .catch(() => {
      const late = behind(scene, sinceMs).join(", ");
      const { failures, problems } = scene.load;
      for (const node of scene.cluster.nodes) print(`${node.name}, newest log:\n${lastLines(node.output())}`);
      throw new Error(`not up to date after ${timeout} ms: ${late}; pushes: ${shownFailures(failures)} ${problems.slice(-1)}`);
    });
  return Date.now() - sinceMs;
}

function compare(
  who: string,
  ticker: string,
  timeframe: string,
  rows: readonly PlainKline[],
  due: Map<number, PlainKline | null>,
) {
  const differences: string[] = [];
  const found = new Map(rows.map((row) => [row.time, JSON.stringify(row)]));
  if (found.size < rows.length) differences.push(`${who} has ${ticker} ${timeframe} twice`);
  for (const [time, kline] of due)
    if (kline !== null && found.get(time) !== JSON.stringify(kline))
      differences.push(`${who} has ${ticker} ${timeframe} ${time} as ${found.get(time)}, expected ${JSON.stringify(kline)}`);
  for (const time of found.keys())
    if (!due.has(time)) differences.push(`${who} has ${ticker} ${timeframe} ${time}, which never existed`);
  return differences;
}

/** The minutes that the recorder has written. */
async function storedMinutes({ cluster }: Scene, ticker: string): Promise<PlainKline[]> {
  const rows = await cluster.query<PlainKline>(
    `SELECT time::float8 AS time, open, high, low, close, tick_volume::float8 AS tick_volume, real_volume, spread FROM kline_tail
      WHERE ticker = $1 ORDER BY time`,
    [ticker],
  );
  return rows.map(numbersOf);
}

/** Differences of edges, clients and the store from the reference while nothing is in transit. */
async function differences(scene: Scene): Promise<string[]> {
  const { cluster, reference, followers } = scene;
  const found: string[] = [];
  for (const ticker of TICKERS) {
    const newest = reference.newest(ticker)?.time_msc ?? 0;
    for (const { name, newestMs } of [
      ...followers,
      ...scene.pollers.map(({ edge, newestMs }) => ({ name: edge.name, newestMs })),
    ])
      if (newestMs(ticker) !== newest) found.push(`${name} has ${ticker} up to ${newestMs(ticker)}, expected ${newest}`);
    for (const timeframe of TIMEFRAMES) {
      const due = reference.klines(ticker, timeframe);
      for (const edge of cluster.edges) {
        const rows = await askKlines(edge, cluster.keys.read, ticker, timeframe);
        found.push(...compare(edge.name, ticker, timeframe, rows, due));
      }
    }
    found.push(...compare("the store", ticker, "M1", await storedMinutes(scene, ticker), reference.klines(ticker, "M1")));
  }
  return found;
}

/** All problems since the last call, except for records in transit. */
function problemsOf({ load, followers, pollers }: Scene, untilMs: number): string[] {
  return [
    ...load.problems.splice(0),
    ...followers.flatMap((follower) => [...follower.problems.splice(0), ...follower.missedMinutes(untilMs)]),
    ...pollers.flatMap((poller) => [...poller.problems.splice(0), ...poller.wrongKlines()]),
  ];
}

/** The memory of the nodes at one time. */
export interface Census {
  /** By name. */
  readonly nodes: ReadonlyMap<string, Memory>;
  /** Name of the node that produces the events. */
  readonly leader: string | undefined;
  /** Number of ticks accepted by then. */
  readonly ticks: number;
}

/** Measures the running nodes. */
export async function memory({ cluster, reference }: Scene): Promise<Census> {
  const running = cluster.nodes.filter((node) => node.running());
  const nodes = new Map(await Promise.all(running.map(async (node) => [node.name, await measure(node)] as const)));
  return { nodes, leader: (await cluster.leader())?.name, ticks: reference.totals().in };
}

interface Growth {
  /** What is printed of each process. */
  readonly shown: readonly string[];
  /** The processes that hold more than they may. */
  readonly grown: readonly string[];
}

const mib = (bytes: number) => Math.round(bytes / MIB);

/** The growth of each process that ran all the time and kept its part: to begin or cease to lead loads and drops code. */
function growthOf(before: Census, after: Census): Growth {
  const kept = (after.ticks - before.ticks) * KEPT_BYTES_PER_TICK;
  const shown = [`up to ${mib(kept)} for events of the last minutes`];
  const grown: string[] = [];
  for (const [name, now] of after.nodes) {
    const then = before.nodes.get(name);
    const leads = after.leader === name;
    if (then?.pid !== now.pid || leads !== (before.leader === name)) continue;
    shown.push(`${name} ${mib(then.liveBytes)} → ${mib(now.liveBytes)} (${mib(then.residentBytes)} → ${mib(now.residentBytes)})`);
    // The leader keeps the events twice: as produced, and as every node reads them.
    const allowed = Math.max(then.liveBytes * MEMORY_SHARE, MEMORY_NOISE_BYTES) + kept * (leads ? 2 : 1);
    if (now.liveBytes > then.liveBytes + allowed) grown.push(`${name} grew from ${then.liveBytes} to ${now.liveBytes} bytes`);
  }
  return { shown, grown };
}

/** Processes that grew by more than noise and do not get smaller: a take-over needs memory for as long as its work takes. */
export async function growth(scene: Scene, before: Census): Promise<readonly string[]> {
  let last: Growth = { shown: [], grown: [] };
  const look = async () => {
    last = growthOf(before, await memory(scene));
    return last.grown.length === 0;
  };
  await vi.waitUntil(look, { interval: 500, timeout: AGREE_MAX_MS }).catch(() => undefined);
  print(`live (and resident) memory in MiB: ${last.shown.join(", ")}`);
  return last.grown;
}

/** Differences that remain after everything had time to arrive. */
async function lastDifferences(scene: Scene): Promise<string[]> {
  let left: string[] = [];
  const look = async () => {
    left = await differences(scene);
    return left.length === 0;
  };
  await vi.waitUntil(look, { interval: 200, timeout: AGREE_MAX_MS }).catch((error: unknown) => {
    left.push(String(error));
  });
  return left;
}

/**
 * Pauses the load, compares everything with the reference, and resumes: no answer was wrong since the start, no record is
 * missing or duplicated, and processes that ran `before` have not grown.
 */
export async function expectAgreement(scene: Scene, before?: Census): Promise<void> {
  const { load, reference } = scene;
  await load.pause();
  const wrong: string[] = [];
  try {
    wrong.push(...(await lastDifferences(scene)), ...problemsOf(scene, Date.now()));
    if (before !== undefined) wrong.push(...(await growth(scene, before)));
  } finally {
    load.resume();
  }
  const totals = reference.totals();
  print(
    `ticks: ${Object.entries(totals)
      .map(([fate, count]) => `${count} ${fate}`)
      .join(
        ", ",
      )}; pushes without a receipt: ${shownFailures(load.failures)}; calls without an answer of 200: ${scene.pollers.map(({ edge, failures }) => `${edge.name} ${shownFailures(failures)}`).join(", ")}`,
  );
  expect(totals.uncertain).toBeLessThan(UNCERTAIN_MAX_COUNT);
  if (wrong.length > 0) throw new Error(`${wrong.length} problems:\n${wrong.slice(0, SHOWN_COUNT).join("\n")}`);
}

/** Sums up counts by key. */
function shownFailures(failures: ReadonlyMap<string, number>): string {
  return [...failures].map(([what, count]) => `${count} × ${what}`).join(", ") || "none";
}
