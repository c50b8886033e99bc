import type { TickRejection } from "#lib/contract/ingest";
import type { Tick } from "#lib/domain/tick";
import { MINUTE_MS } from "#lib/units";
import { TAKEN } from "#server/import/layout";
import { hourOf } from "./archive";

/** Around the end of an hour, ticks belong to the hour of their own time if they came within this. */
export const BORDER_MS = 2 * MINUTE_MS;

/** Rows of an hour of a ticker that wait to be stored. */
export interface WaitingRows {
  readonly upstream: string;
  readonly ticker: string;
  readonly hourMs: number;
  rows: string;
  count: number;
}

/** Rows that wait to be stored. */
export interface Backlog {
  /** False where there is no room for it. */
  add(tick: Tick, outcome: TickRejection | null, receivedMs: number, upstream?: string): boolean;
  /** Size of the rows that are not stored yet, also of those that were taken. */
  bytes(): number;
  /** Number of these rows. */
  count(): number;
  /** Takes all of them, to store them. */
  take(): WaitingRows[];
  /** Call it with what was stored or given up. */
  done(rows: WaitingRows): void;
  /** Takes back what could not be stored. */
  putBack(rows: WaitingRows): void;
}

/**
 * The hour that a tick is recorded in: that of its own time near the end of an hour, so that an hour holds all of its minutes whole;
 * else that of its arrival, whatever its time says.
 */
function recordedHour(timeMs: number, receivedMs: number): number {
  return hourOf(Math.abs(timeMs - receivedMs) <= BORDER_MS ? timeMs : receivedMs);
}

interface BacklogOptions {
  readonly maxBytes: number;
  /** The folder of a ticker's ticks: the provider, or push. */
  readonly upstreamOf: (ticker: string) => string;
}

/** Makes an empty backlog. */
export function createBacklog({ maxBytes, upstreamOf }: BacklogOptions): Backlog {
  let waiting = new Map<string, WaitingRows[]>();
  let bytes = 0;
  let count = 0;

  function placeOf(ticker: string, upstream: string, hourMs: number): WaitingRows {
    let hours = waiting.get(ticker);
    if (hours === undefined) {
      hours = [];
      waiting.set(ticker, hours);
    }
    for (const hour of hours) if (hour.hourMs === hourMs && hour.upstream === upstream) return hour;
    const added = { upstream, ticker, hourMs, rows: "", count: 0 };
    hours.push(added);
    return added;
  }

  return {
    add({ ticker, time_msc, bid, ask, volume }, outcome, receivedMs, upstream = upstreamOf(ticker)) {
      if (bytes >= maxBytes) return false;
      const row = `${time_msc},${bid},${ask},${volume ?? ""},${receivedMs},${outcome ?? TAKEN}\n`;
      const place = placeOf(ticker, upstream, recordedHour(time_msc, receivedMs));
      place.rows += row;
      place.count += 1;
      bytes += row.length;
      count += 1;
      return true;
    },
    bytes: () => bytes,
    count: () => count,
    take() {
      const taken = [...waiting.values()].flat();
      waiting = new Map();
      return taken;
    },
    done(rows) {
      bytes -= rows.rows.length;
      count -= rows.count;
    },
    putBack({ upstream, ticker, hourMs, rows, count: more }) {
      const place = placeOf(ticker, upstream, hourMs);
      place.rows = rows + place.rows;
      place.count += more;
    },
  };
}
