import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { DISPLAY_CLASS } from "#lib/contract/status";
import { HEALTH_RETENTION_S } from "#lib/contract/uptime";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";
import { MINUTE_MS } from "#lib/units";
import type { Market } from "./ports";
import { statusAt } from "./status";

/** Samples held while the database is unavailable: twelve hours of both venues. Past this, the oldest are dropped. */
const PENDING_MAX_COUNT = 1_440;

/** Whether the service's own endpoints answer. */
export interface ProbeResult {
  readonly rest: boolean;
  readonly stream: boolean;
}

/** The health of one venue in one minute. */
interface HealthSample extends ProbeResult {
  /** Unix milliseconds, start of the minute. */
  readonly atMs: number;
  readonly venue: Venue;
  /** Instruments whose market is open and that the bound feed should deliver, without test tickers. */
  readonly expected: number;
  /** How many of those have a fresh quote: their status is simply open. */
  readonly fresh: number;
  /** Age of the newest tick by the wall clock, null before the first. */
  readonly lagMs: number | null;
}

/** Unix milliseconds of the newest tick of a venue, null before the first. */
export function lastTickOf({ catalogue, view }: Market): number | null {
  const times = catalogue.list().flatMap(({ ticker }) => view.quote(ticker)?.time_msc ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** The health of a venue's feed at an instant. */
type FeedHealth = Pick<HealthSample, "venue" | "expected" | "fresh" | "lagMs"> & {
  /** Unix milliseconds of the newest tick, null before the first. */
  readonly lastTickMs: number | null;
};

/** The current health of a venue's feed. */
export function feedHealth(market: Market, wallMs: number): FeedHealth {
  const nowMs = market.now?.() ?? wallMs;
  const states = market.catalogue
    .list()
    .filter(({ assetClass }) => assetClass !== "test")
    .map((listing) => statusAt({ market, nowMs }, listing));
  const open = market.provider === null ? [] : states.filter(({ calendar_state }) => calendar_state === "open");
  const fresh = open.filter(({ final_display_state }) => DISPLAY_CLASS[final_display_state] === "positive");
  const lastTickMs = lastTickOf(market);
  const lagMs = lastTickMs === null ? null : Math.max(0, wallMs - lastTickMs);
  return { venue: market.venue, expected: open.length, fresh: fresh.length, lagMs, lastTickMs };
}

// When several processes share a database, the healthy one counts: it is the one that serves. Expected and fresh come from the
// same process, the one that missed the fewest instruments: mixed, they would describe a feed that no process saw.
const WRITE = `
  INSERT INTO health_sample AS h (at, venue, rest, stream, expected, fresh, lag_ms)
  SELECT * FROM unnest($1::timestamptz[], $2::text[], $3::boolean[], $4::boolean[], $5::int[], $6::int[], $7::bigint[])
   ORDER BY 1, 2
  ON CONFLICT (at, venue) DO UPDATE
    SET rest = h.rest OR excluded.rest, stream = h.stream OR excluded.stream, lag_ms = least(h.lag_ms, excluded.lag_ms),
        (expected, fresh) = (
          SELECT expected, fresh
            FROM (VALUES (h.expected, h.fresh), (excluded.expected, excluded.fresh)) AS either (expected, fresh)
           ORDER BY expected - fresh, expected DESC LIMIT 1)`;
// Rows in the future were written while the clock ran ahead. Another process may legitimately be a little ahead.
const DELETE = "DELETE FROM health_sample WHERE at < $1 OR at > $2";

async function write(pool: Pick<Pool, "query">, samples: readonly HealthSample[]): Promise<void> {
  await pool.query(WRITE, [
    samples.map(({ atMs }) => new Date(atMs)),
    samples.map(({ venue }) => venue),
    samples.map(({ rest }) => rest),
    samples.map(({ stream }) => stream),
    samples.map(({ expected }) => expected),
    samples.map(({ fresh }) => fresh),
    samples.map(({ lagMs }) => lagMs),
  ]);
}

interface HealthRecorderOptions {
  readonly pool: Pick<Pool, "query">;
  readonly markets: Readonly<Record<Venue, Market>>;
  /** Probes the service's own endpoints. When it rejects, the minute has no sample. */
  readonly probe: () => Promise<ProbeResult>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Stores a health sample each minute. Samples that cannot be written are kept for later, up to a bound. */
export interface HealthRecorder {
  /** Stops recording. */
  stop(): Promise<void>;
}

/** Starts with a sample of the current minute. A minute in which the process was down or sampling failed has no sample. */
export function recordHealth({ pool, markets, probe, clock, log }: HealthRecorderOptions): HealthRecorder {
  const stopping = new AbortController();
  let pending: HealthSample[] = [];
  let failing = false;

  async function sample(): Promise<void> {
    const nowMs = clock.now();
    const atMs = nowMs - (nowMs % MINUTE_MS);
    const doors = await probe();
    if (stopping.signal.aborted) return;
    const samples = Object.values(markets).map((market) => ({ atMs, ...doors, ...feedHealth(market, nowMs) }));
    pending = [...pending, ...samples].slice(-PENDING_MAX_COUNT);
  }

  async function flush(): Promise<void> {
    const written = pending;
    try {
      if (written.length > 0) await write(pool, written);
      pending = pending.filter((later) => !written.includes(later));
      const nowMs = clock.now();
      await pool.query(DELETE, [new Date(nowMs - HEALTH_RETENTION_S * 1_000), new Date(nowMs + MINUTE_MS)]);
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, "cannot write health samples; retrying");
      failing = true;
    }
  }

  const untilNextMinute = () => MINUTE_MS - (clock.now() % MINUTE_MS);
  const running = repeat({ clock, signal: stopping.signal, pause: untilNextMinute, atOnce: true }, async () => {
    // A failed sample must not stop the loop: nothing else would restart it.
    await sample().catch((error: unknown) => log.error({ err: error }, "cannot sample the health of the service"));
    await flush();
  });

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
