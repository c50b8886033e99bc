import { randomUUID } from "node:crypto";
import type { Clock } from "#lib/clock";
import { repeat } from "#lib/repeat";
import { createLru } from "../lru";
import { type Bucket, type BucketLimits, giveBack, PARTS_PER_UNIT, take, type Verdict } from "./bucket";
import { type BucketCall, type BucketLender, LEASE_MS } from "./bucket-lender";
import { BUCKETS_MAX_COUNT, type BucketStore } from "./bucket-store";

/** A node holds at most 1/n of the burst allowance, so that a busy client needs a call only every few requests. */
const BLOCK_PART = 8;
/** A reply of the lender stays valid this long, so that a flood of rejected requests makes no calls. */
const BELIEVED_MS = 1_000;
/** Pause after a failed call, before a single call is tried. */
const FAILED_PAUSE_MS = 1_000;
const SWEEP_INTERVAL_MS = 500;
/** Maximum number of owners whose units one sweep returns; the rest follow in the next. */
const SWEEP_MAX_COUNT = 1_000;
/** Maximum number of waiting requests per owner. One more is rejected, and may be sent again after a second. */
const WAITING_MAX_COUNT = 10_000;

/** The local state of one bucket. */
interface Share {
  /** The last known shared bucket, including the units held here. */
  bucket: Bucket | undefined;
  limits: BucketLimits;
  /** When the lender sent it. */
  seenMs: number;
  /** Units subtracted from the shared bucket that can be spent here. */
  units: number;
  /** Until when they can be spent, and from which time or below which count more are requested. */
  sinceMs: number;
  untilMs: number;
  renewMs: number;
  renewUnits: number;
  /** Units allowed while the lender was unreachable, minus those lost in transit. */
  owed: number;
  /** The call in progress. */
  asking: Promise<Verdict | undefined> | undefined;
  waiting: number;
}

const within = (nowMs: number, fromMs: number, lengthMs: number) => nowMs >= fromMs && nowMs < fromMs + lengthMs;
const spendable = ({ sinceMs, untilMs }: Share, nowMs: number) => nowMs >= sinceMs && nowMs < untilMs;

/** Adds units that were taken and not used. Those that can no longer be spent here are lost until the window ends. */
function takeBack(share: Share, limits: BucketLimits, cost: number, takenMs: number, nowMs: number): void {
  if (share.bucket === undefined || share.bucket.windowStartMs > takenMs) return;
  if (share.owed >= cost) share.owed -= cost;
  else if (spendable(share, nowMs)) share.units += cost;
  else return;
  share.bucket = giveBack(share.bucket, limits, cost, takenMs, nowMs);
}

/** Buckets shared by nodes. */
export interface LeasedBuckets extends BucketStore {
  /** Returns unused units until the signal aborts, and then all units. */
  run(signal: AbortSignal): Promise<void>;
}

interface LeasedBucketsOptions {
  readonly lender: BucketLender;
  readonly clock: Clock;
  /** Maximum number of owners kept; past it the least recently used one is dropped and read again later. */
  readonly maxCount?: number;
  readonly waitingMaxCount?: number;
}

/**
 * Buckets of a lender, from which this process leases small blocks of units: they are subtracted first and spent here, so that most
 * requests make no call. All nodes together allow no more than one bucket would. If a node dies, the units it holds are lost
 * until the window ends. While the lender is unreachable, each process uses its last known state, and reports afterwards.
 */
export function createLeasedBuckets(options: LeasedBucketsOptions): LeasedBuckets {
  const { lender, clock, maxCount = BUCKETS_MAX_COUNT, waitingMaxCount = WAITING_MAX_COUNT } = options;
  const node = randomUUID();
  /** Local states that hold units or must report some. */
  const unsettled = new Map<string, Share>();
  const shares = createLru<Share>(maxCount, (key) => unsettled.delete(key));
  let failedMs: number | undefined;
  let calls = 0;

  function mayAsk(): boolean {
    if (!lender.connected()) return false;
    return failedMs === undefined || (calls === 0 && !within(clock.now(), failedMs, FAILED_PAUSE_MS));
  }

  function shareOf(key: string, limits: BucketLimits): Share {
    const found = shares.get(key);
    if (found !== undefined) return found;
    const never = Number.NEGATIVE_INFINITY;
    const times = { seenMs: never, sinceMs: never, untilMs: never, renewMs: Number.POSITIVE_INFINITY, renewUnits: -1 };
    const share: Share = { bucket: undefined, limits, ...times, units: 0, owed: 0, asking: undefined, waiting: 0 };
    shares.set(key, share);
    return share;
  }

  function keepTrack(key: string, share: Share): void {
    const open = (share.units > 0 || share.owed > 0) && shares.peek(key) === share;
    if (open) unsettled.set(key, share);
    else if (unsettled.get(key) === share) unsettled.delete(key);
  }

  /** Calls the lender and applies the reply. Resolves with the outcome for its cost, undefined when it is unreachable. */
  async function settle(key: string, share: Share, call: Pick<BucketCall, "cost" | "want" | "held" | "back" | "opens">) {
    const { limits, owed, bucket: known } = share;
    const sentMs = clock.now();
    calls += 1;
    try {
      const { bucket, leased, lastsMs } = await lender.ask(key, { ...call, node, limits, owed: Math.max(0, owed), known });
      const { bucket: after, verdict } = take(bucket, limits, call.cost, sentMs);
      failedMs = undefined;
      const { units } = share;
      share.bucket = { ...after, used: after.used - units, parts: after.parts + units * PARTS_PER_UNIT };
      share.units += leased;
      share.owed -= owed;
      share.seenMs = sentMs;
      share.sinceMs = sentMs;
      share.untilMs = sentMs + lastsMs;
      share.renewMs = sentMs + LEASE_MS / 2;
      share.renewUnits = leased > 0 ? Math.floor(share.units / 2) : -1;
      return verdict;
    } catch {
      failedMs = clock.now();
      share.owed -= call.back;
      return undefined;
    } finally {
      calls -= 1;
      share.asking = undefined;
      keepTrack(key, share);
    }
  }

  const blockOf = ({ restBurst }: BucketLimits) => Math.ceil(restBurst / BLOCK_PART);

  /** Decides without a call when the local state is enough. */
  function judgeHere(key: string, share: Share, cost: number): Verdict | undefined {
    const nowMs = clock.now();
    const { bucket, verdict } = take(share.bucket, share.limits, cost, nowMs);
    if (!verdict.allowed || cost === 0) {
      if (!within(nowMs, share.seenMs, BELIEVED_MS)) return undefined;
    } else {
      if (share.units < cost || !spendable(share, nowMs)) return undefined;
      share.units -= cost;
      const low = share.units <= share.renewUnits || nowMs >= share.renewMs;
      if (low && share.asking === undefined && mayAsk()) renew(key, share);
    }
    share.bucket = bucket;
    return verdict;
  }

  function renew(key: string, share: Share): void {
    const { units: held, limits } = share;
    share.asking = settle(key, share, { cost: 0, want: Math.max(0, blockOf(limits) - held), held, back: 0, opens: false });
  }

  /** Decides from the last state before the lender became unreachable. */
  function judgeAlone(key: string, share: Share, cost: number): Verdict {
    const { bucket, verdict } = take(share.bucket, share.limits, cost, clock.now());
    // Units of a window that is over need not be reported.
    if (bucket.windowStartMs !== share.bucket?.windowStartMs) share.owed = 0;
    if (verdict.allowed) share.owed += cost;
    share.bucket = bucket;
    keepTrack(key, share);
    return verdict;
  }

  async function judgeThere(key: string, share: Share, cost: number): Promise<Verdict> {
    const { units: back, limits, waiting } = share;
    share.units = 0;
    const asking = settle(key, share, { cost, want: (cost > 0 ? blockOf(limits) : 0) + waiting, held: 0, back, opens: true });
    share.asking = asking;
    return (await asking) ?? judgeAlone(key, share, cost);
  }

  /** Makes one call per owner at a time: requests that arrive during it wait for its reply, which often covers all of them. */
  async function judgeInTurn(key: string, share: Share, limits: BucketLimits, cost: number): Promise<Verdict> {
    while (share.asking !== undefined) {
      share.waiting += 1;
      await share.asking;
      share.waiting -= 1;
      share.limits = limits;
      const verdict = judgeHere(key, share, cost);
      if (verdict !== undefined) return verdict;
    }
    return mayAsk() ? judgeThere(key, share, cost) : judgeAlone(key, share, cost);
  }

  async function returnUnits(all: boolean): Promise<void> {
    const nowMs = clock.now();
    const given: Promise<unknown>[] = [];
    for (const [key, share] of unsettled) {
      if (given.length >= SWEEP_MAX_COUNT && !all) break;
      const inUse = share.owed <= 0 && spendable(share, nowMs);
      if (share.asking !== undefined || (inUse && !all)) continue;
      if (!mayAsk()) break;
      const { units: back } = share;
      share.units = 0;
      share.asking = settle(key, share, { cost: 0, want: 0, held: 0, back, opens: false });
      given.push(share.asking);
    }
    await Promise.all(given);
  }

  return {
    take(key, limits, cost) {
      const share = shareOf(key, limits);
      share.limits = limits;
      const here = judgeHere(key, share, cost);
      if (here !== undefined) return here;
      if (!mayAsk() && share.asking === undefined) return judgeAlone(key, share, cost);
      if (share.waiting < waitingMaxCount) return judgeInTurn(key, share, limits, cost);
      const { verdict } = take(share.bucket, limits, 0, clock.now());
      return { ...verdict, allowed: false, retryAfterS: 1, refusedBy: "burst" };
    },
    giveBack(key, limits, cost, takenMs) {
      const share = shares.get(key);
      if (share === undefined) return;
      takeBack(share, limits, cost, takenMs, clock.now());
      keepTrack(key, share);
    },
    async run(signal) {
      await repeat({ clock, signal, pause: SWEEP_INTERVAL_MS }, () => returnUnits(false));
      await returnUnits(true);
    },
  };
}
