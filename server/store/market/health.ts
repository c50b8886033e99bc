import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { FEED_STATES, type FeedState } from "#lib/contract/service-status";
import { HEALTH_RETENTION_S, UPTIME_DAYS } from "#lib/contract/uptime";
import type { Logger } from "#lib/log";
import type { Market } from "#lib/market/ports";
import { lastTickOf, quietSince, unofferedOf, venueStates } from "#lib/market/status";
import { repeat } from "#lib/repeat";
import { feedState } from "#lib/service-state";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import { noteMeasured } from "./measured-incidents";
import { stateIn } from "./sample-state";

/** Samples held while the database is unavailable: twelve hours of both venues. Past this, the oldest are dropped. */
const PENDING_MAX_COUNT = 1_440;

/** Whether the service's own endpoints answer. */
export interface ProbeResult {
  readonly rest: boolean;
  readonly stream: boolean;
  /** Whether the database answered: without it, the endpoints count as failed. */
  readonly stored: boolean;
}

/** A venue whose feed is watched. */
export type WatchedMarket = Market & {
  /** What is wrong with its feed, null if nothing. */
  feedProblem(): string | null;
};

/** The health of one venue in one minute. */
interface HealthSample extends ProbeResult {
  /** Unix milliseconds, start of the minute. */
  readonly atMs: number;
  readonly venue: Venue;
  readonly state: FeedState;
  /** True while something is wrong with the connection to the provider. */
  readonly away: boolean;
  /** Instruments that the bound feed offers and whose market is open, without test tickers. */
  readonly expected: number;
  /** How many of those have a fresh quote: their status is simply open. */
  readonly fresh: number;
  /** Age of the newest tick by the wall clock, null before the first. */
  readonly lagMs: number | null;
}

/** The health of a venue's feed at an instant. */
type FeedHealth = Pick<HealthSample, "venue" | "state" | "away" | "expected" | "fresh" | "lagMs"> & {
  /** Unix milliseconds of the newest tick, null before the first. */
  readonly lastTickMs: number | null;
  /** Listed instruments that the feed is known not to bring. */
  readonly unoffered: number;
};

/** The current health of a venue's feed. */
export function feedHealth(market: WatchedMarket, wallMs: number): FeedHealth {
  const problem = market.feedProblem();
  const { state, expected, late } = feedState({ ...venueStates(market, wallMs), problem });
  const lastTickMs = lastTickOf(market);
  const lagMs = lastTickMs === null ? null : Math.max(0, wallMs - lastTickMs);
  return {
    venue: market.venue,
    state,
    away: problem !== null,
    expected: expected.length,
    fresh: expected.length - late.length,
    lagMs,
    lastTickMs,
    unoffered: unofferedOf(market).length,
  };
}

const FEED_FIELDS = "state, away, expected, fresh";
const fieldsOf = (row: string) => `${stateIn(row)}, ${row}.away, ${row}.expected, ${row}.fresh`;
// When several processes share a database, the healthy one counts: it is the one that serves. What is said of the feed comes from one
// process, the one that saw the best state and missed the fewest instruments: mixed, it would describe a feed that no process saw.
const WRITE = `
  INSERT INTO health_sample AS h (at, venue, rest, stream, stored, ${FEED_FIELDS}, lag_ms)
  SELECT * FROM unnest($1::timestamptz[], $2::text[], $3::boolean[], $4::boolean[], $5::boolean[], $6::text[], $7::boolean[],
                       $8::int[], $9::int[], $10::bigint[])
   ORDER BY 1, 2
  ON CONFLICT (at, venue) DO UPDATE
    SET rest = h.rest OR excluded.rest, stream = h.stream OR excluded.stream, stored = h.stored OR excluded.stored,
        lag_ms = least(h.lag_ms, excluded.lag_ms),
        (${FEED_FIELDS}) = (
          SELECT ${FEED_FIELDS}
            FROM (VALUES (${fieldsOf("h")}), (${fieldsOf("excluded")})) AS either (${FEED_FIELDS})
           ORDER BY array_position($11::text[], state), expected - fresh, expected DESC LIMIT 1)`;
// Rows in the future were written while the clock ran ahead. Another process may legitimately be a little ahead.
const DELETE = "DELETE FROM health_sample WHERE at < $1 OR at > $2";

async function write(pool: Pick<Pool, "query">, samples: readonly HealthSample[]): Promise<void> {
  await pool.query(WRITE, [
    samples.map(({ atMs }) => new Date(atMs)),
    samples.map(({ venue }) => venue),
    samples.map(({ rest }) => rest),
    samples.map(({ stream }) => stream),
    samples.map(({ stored }) => stored),
    samples.map(({ state }) => state),
    samples.map(({ away }) => away),
    samples.map(({ expected }) => expected),
    samples.map(({ fresh }) => fresh),
    samples.map(({ lagMs }) => lagMs),
    FEED_STATES,
  ]);
}

interface HealthRecorderOptions {
  readonly pool: Pick<Pool, "query">;
  readonly markets: Readonly<Record<Venue, WatchedMarket>>;
  /** Probes the service's own endpoints. When it rejects, the minute has no sample. */
  readonly probe: () => Promise<ProbeResult>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Stores a health sample each minute, and the incidents that follow from them. Samples that cannot be written are kept for later, up to a bound. */
export interface HealthRecorder {
  /** Stops recording. */
  stop(): Promise<void>;
}

/** Starts with a sample of the current minute. A minute in which the process was down or sampling failed has no sample. */
export function recordHealth({ pool, markets, probe, clock, log }: HealthRecorderOptions): HealthRecorder {
  const stopping = new AbortController();
  let pending: HealthSample[] = [];
  let failing = false;
  /** Up to when incidents were noted. The first time, all samples are read. */
  let notedMs = clock.now() - (UPTIME_DAYS - 1) * DAY_MS;

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
      const quiet = { live: quietSince(markets.live, nowMs), sandbox: quietSince(markets.sandbox, nowMs) };
      await noteMeasured(pool, nowMs, notedMs - DAY_MS, quiet);
      notedMs = nowMs;
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
