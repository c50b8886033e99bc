import type { Clock } from "#lib/clock";
import { createLru } from "../lru";
import { type Bucket, type BucketLimits, giveBack, PARTS_PER_UNIT, partsPerMs, take, type Verdict, WINDOW_MS } from "./bucket";
import { type BucketCall, type BucketLender, LEASE_MS, LEASE_NOTED_MS, LEASE_PART } from "./bucket-lender";
import { BUCKETS_MAX_COUNT, type BucketStore } from "./bucket-store";

/** Units that a process holds of a bucket. */
interface Lease {
  readonly units: number;
  /** Start of the window they are of. */
  readonly windowStartMs: number;
  readonly untilMs: number;
}

interface Account {
  bucket: Bucket;
  readonly leases: Map<string, Lease>;
}

/** A call as it goes from process to process; the bank keeps its own copy of every bucket. */
export type BankCall = Omit<BucketCall, "known">;

/** The reply, without instants: the clocks of two processes may differ. */
export interface Lent {
  /** Since the window began. */
  readonly ageMs: number;
  readonly used: number;
  readonly parts: number;
  readonly leased: number;
  readonly lastsMs: number;
}

/** The buckets of all processes of a node. It decides on requests of its own process, and lends to the others. */
interface BucketBank extends BucketStore {
  take(key: string, limits: BucketLimits, cost: number): Verdict;
  lend(key: string, call: BankCall): Lent;
}

/** Drops the leases that can no longer be spent; returns what the other processes hold. */
function heldByOthers(leases: Map<string, Lease>, node: string, nowMs: number): number {
  let held = 0;
  for (const [name, { units, untilMs }] of leases) {
    // One that ends too far ahead was noted before the clock went back.
    if (untilMs <= nowMs || untilMs > nowMs + LEASE_NOTED_MS) leases.delete(name);
    else if (name !== node) held += units;
  }
  return held;
}

/** The bucket of an account before a call: refilled, with what the call returns and without what is owed. */
function settled({ bucket, leases }: Account, call: BankCall, nowMs: number) {
  const { node, limits, held, back, owed, opens } = call;
  const others = heldByOthers(leases, node, nowMs);
  const mine = leases.get(node);
  const noted = mine?.units ?? 0;
  const current = nowMs < bucket.windowStartMs + WINDOW_MS;
  const windowStartMs = current ? Math.min(bucket.windowStartMs, nowMs) : bucket.windowStartMs;
  const leasedNow = mine !== undefined && current && mine.windowStartMs === windowStartMs;
  const returned = Math.min(back, Math.max(0, noted - held));
  // It refills up to the burst without what can still be spent elsewhere, so that all together never have more than one burst.
  const full = (limits.restBurst - others - noted) * PARTS_PER_UNIT;
  const refilled = bucket.parts + Math.max(0, nowMs - bucket.partsAtMs) * partsPerMs(limits.restPerMinute);
  const parts = Math.max(0, Math.min(full, refilled) + (returned - owed) * PARTS_PER_UNIT);
  const spent = current ? bucket.used + owed : 0;
  return {
    running: current || opens,
    leasedNow,
    windowStartMs: opens && !current ? nowMs : windowStartMs,
    used: leasedNow ? Math.max(0, spent - returned) : spent,
    parts,
    leasedFromMs: mine?.windowStartMs ?? 0,
  };
}

/**
 * Makes the bank. It decides like `take` in bucket.ts, which a test verifies; units that other processes hold are subtracted
 * already. A process that dies loses the units it held until the window ends.
 */
export function createBucketBank(clock: Clock, maxCount = BUCKETS_MAX_COUNT): BucketBank {
  const accounts = createLru<Account>(maxCount);

  function accountOf(key: string, { restBurst }: BankCall["limits"], nowMs: number): Account {
    const found = accounts.get(key);
    if (found !== undefined) return found;
    const bucket = { windowStartMs: nowMs - WINDOW_MS, used: 0, parts: restBurst * PARTS_PER_UNIT, partsAtMs: nowMs };
    const account = { bucket, leases: new Map() };
    accounts.set(key, account);
    return account;
  }

  function lend(key: string, call: BankCall): Lent {
    const nowMs = clock.now();
    const { node, limits, cost, want, held } = call;
    const { restPerMinute, restBurst } = limits;
    const account = accountOf(key, limits, nowMs);
    const { running, leasedNow, windowStartMs, used, parts, leasedFromMs } = settled(account, call, nowMs);
    const fits =
      running && used + Math.min(cost, restPerMinute) <= restPerMinute && parts >= Math.min(cost, restBurst) * PARTS_PER_UNIT;
    const usedAfter = fits ? Math.min(restPerMinute, used + cost) : used;
    const partsAfter = fits ? Math.max(0, parts - cost * PARTS_PER_UNIT) : parts;
    // Units of a window that is over must not be spent in the next one.
    const usable = running && (held === 0 || leasedNow);
    const most = Math.min(want, partsAfter / (PARTS_PER_UNIT * LEASE_PART), (restPerMinute - usedAfter) / LEASE_PART);
    const leased = usable && fits ? Math.max(0, Math.floor(most)) : 0;
    const units = held + leased;
    if (units === 0) account.leases.delete(node);
    else
      account.leases.set(node, {
        units,
        windowStartMs: usable ? windowStartMs : leasedFromMs,
        untilMs: nowMs + LEASE_NOTED_MS,
      });
    account.bucket = {
      windowStartMs,
      used: usedAfter + leased,
      parts: partsAfter - leased * PARTS_PER_UNIT,
      partsAtMs: nowMs,
    };
    const lastsMs = usable ? Math.min(LEASE_MS, windowStartMs + WINDOW_MS - nowMs) : 0;
    return { ageMs: nowMs - windowStartMs, used, parts, leased, lastsMs };
  }

  return {
    lend,
    take(key, limits, cost) {
      const nowMs = clock.now();
      const here = { node: "", limits, cost, want: 0, held: 0, back: 0, owed: 0, opens: true };
      const { ageMs, used, parts } = lend(key, here);
      return take({ windowStartMs: nowMs - ageMs, used, parts, partsAtMs: nowMs }, limits, cost, nowMs).verdict;
    },
    giveBack(key, limits, cost, takenMs) {
      const account = accounts.get(key);
      if (account !== undefined) account.bucket = giveBack(account.bucket, limits, cost, takenMs, clock.now());
    },
  };
}

/** In front of the names of buckets of clients that nobody knows. */
export const STRANGER = "stranger ";

/** Two banks, so that strangers push out nobody else's buckets, however many there are. */
export interface BucketBanks {
  readonly buckets: BucketStore;
  readonly strangers: BucketStore;
  /** Lends from the one that has this bucket. */
  lend(key: string, call: BankCall): Lent;
}

/** Makes the banks of a node. */
export function createBucketBanks(clock: Clock): BucketBanks {
  const [buckets, strangers] = [createBucketBank(clock), createBucketBank(clock)];
  return { buckets, strangers, lend: (key, call) => (key.startsWith(STRANGER) ? strangers : buckets).lend(key, call) };
}

/** Makes the lender of a process that asks the bank of another one. */
export function createBankLender(clock: Clock, lend: (key: string, call: BankCall) => Promise<Lent>): BucketLender {
  return {
    async ask(key, { known: _known, ...call }) {
      const sentMs = clock.now();
      const { ageMs, used, parts, leased, lastsMs } = await lend(key, call);
      // Counted from the time of the call, so that a window and a lease end no later here than at the bank.
      return { bucket: { windowStartMs: sentMs - ageMs, used, parts, partsAtMs: sentMs }, leased, lastsMs };
    },
    connected: () => true,
  };
}
