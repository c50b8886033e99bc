import type { Principal } from "#lib/access/principal";
import { DEMO_NAME } from "#lib/access/principal";
import type { Clock } from "#lib/clock";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { MINUTE_MS } from "#lib/units";
import { LATENCY_BANDS_COUNT, latencyBand } from "./latency-bands";

/** Maximum number of combinations of (minute, key, operation, code) that wait to be written, and as many that are being counted. */
const WAITING_MAX_COUNT = 50_000;
/** Interval of writing counts and logged requests. */
export const FLUSH_INTERVAL_MS = 2_000;
/**
 * Most requests of one account that are logged between two flushes; further ones are only counted. It is what the largest
 * built-in plan allows in that time. It keeps a busy account from displacing the requests of others in the queue.
 */
const LOGGED_MAX_COUNT = Math.max(
  ...Object.values(PLAN_DEFAULTS).map(
    ({ restPerMinute, restBurst }) => restBurst + (restPerMinute * FLUSH_INTERVAL_MS) / MINUTE_MS,
  ),
);

/** Calls of one key, operation and outcome in one minute. */
export interface CallCount {
  readonly accountId: string;
  readonly keyId: string;
  readonly operation: string;
  readonly code: number;
  /** Start of the minute, Unix milliseconds. */
  readonly atMs: number;
  calls: number;
  /** Rate-limit units that they took. */
  units: number;
  /** Calls in each latency band. */
  readonly latency: number[];
}

/** Counts calls in memory. */
interface UsageCounts {
  /** Counts one call, in constant time; true when it should also be logged. */
  add(principal: Principal, operation: string, code: number, latencyMs: number, units: number): boolean;
  /** Takes up to `max` waiting counts; the caller writes them or gives them back. */
  take(max: number): CallCount[];
  giveBack(counts: readonly CallCount[]): void;
  /** Begins a new interval between flushes: the counts so far now wait to be written. */
  turn(): void;
  /** Calls dropped since the last call of this function. */
  dropped(): number;
}

interface Cell {
  calls: number;
  units: number;
  latency: number[];
}

interface KeyCounts {
  readonly accountId: string;
  /** Shared by all keys of the account. */
  readonly log: { left: number };
  readonly operations: Map<string, Map<number, Cell>>;
}

const nameOf = ({ atMs, keyId, operation, code }: CallCount) => `${atMs} ${keyId} ${operation} ${code}`;

/**
 * Makes counts by minute. When too many wait (the database was unavailable for long), new calls are added to the last minute
 * with room; when that is full too, calls of new combinations of key, operation and code are dropped.
 */
export function createUsageCounts(clock: Clock, waitingMax = WAITING_MAX_COUNT, loggedMax = LOGGED_MAX_COUNT): UsageCounts {
  const waiting = new Map<string, CallCount>();
  const keys = new Map<string, KeyCounts>();
  const logs = new Map<string, { left: number }>();
  let cells = 0;
  let dropped = 0;
  let minuteMs = 0;
  let minuteEndMs = 0;

  function merge(count: CallCount): void {
    const name = nameOf(count);
    const known = waiting.get(name);
    if (known === undefined) {
      waiting.set(name, count);
      return;
    }
    known.calls += count.calls;
    known.units += count.units;
    for (const [band, calls] of count.latency.entries()) known.latency[band] = (known.latency[band] ?? 0) + calls;
  }

  function turn(): void {
    if (cells > 0 && waiting.size + cells > waitingMax) {
      for (const log of logs.values()) log.left = loggedMax;
    } else {
      for (const [keyId, { accountId, operations }] of keys)
        for (const [operation, codes] of operations)
          for (const [code, cell] of codes) merge({ accountId, keyId, operation, code, atMs: minuteMs, ...cell });
      keys.clear();
      logs.clear();
      cells = 0;
    }
    const nowMs = clock.now();
    if (cells === 0) minuteMs = nowMs - (nowMs % MINUTE_MS);
    minuteEndMs = nowMs - (nowMs % MINUTE_MS) + MINUTE_MS;
  }

  function openKey(keyId: string, accountId: string): KeyCounts {
    const log = logs.get(accountId) ?? { left: loggedMax };
    logs.set(accountId, log);
    const key = { accountId, log, operations: new Map<string, Map<number, Cell>>() };
    keys.set(keyId, key);
    return key;
  }

  function openCell(key: KeyCounts, operation: string, code: number): Cell {
    const codes = key.operations.get(operation) ?? new Map<number, Cell>();
    key.operations.set(operation, codes);
    const cell = { calls: 0, units: 0, latency: new Array<number>(LATENCY_BANDS_COUNT).fill(0) };
    codes.set(code, cell);
    cells += 1;
    return cell;
  }

  return {
    add({ keyId, accountId, perAddress }, operation, code, latencyMs, units) {
      // The demo key has no owner if the demo account was deleted from the database.
      if (accountId === DEMO_NAME) return false;
      if (clock.now() >= minuteEndMs) turn();
      const known = keys.get(keyId)?.operations.get(operation)?.get(code);
      if (known === undefined && cells >= waitingMax) {
        dropped += 1;
        return false;
      }
      const key = keys.get(keyId) ?? openKey(keyId, accountId);
      const cell = known ?? openCell(key, operation, code);
      const band = latencyBand(latencyMs);
      cell.calls += 1;
      cell.units += units;
      cell.latency[band] = (cell.latency[band] ?? 0) + 1;
      // The demo key is public, so the addresses of its users are not logged.
      if (perAddress || key.log.left === 0) return false;
      key.log.left -= 1;
      return true;
    },
    take(max) {
      const taken: CallCount[] = [];
      for (const [name, count] of waiting) {
        if (taken.length === max) break;
        waiting.delete(name);
        taken.push(count);
      }
      return taken;
    },
    giveBack(counts) {
      for (const count of counts) merge(count);
    },
    turn,
    dropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
  };
}
