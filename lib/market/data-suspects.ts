import type pg from "pg";
import {
  DATA_FROZEN_MIN_MINUTES,
  DATA_JUMP_LASTING_COUNT,
  DATA_JUMP_MIN_RATIO,
  DATA_SPIKE_MIN_RATIO,
  DATA_SUSPECTS_PER_YEAR_COUNT,
  type DataFrozenRun,
  type DataJump,
  type DataSpike,
  type DataSuspects,
} from "#lib/contract/portal-data";
import type { Calendar } from "#lib/domain/calendar";
import { DAY_S, MINUTE_S } from "#lib/units";
import { isoOf, yearSpan } from "./data-reads";
import { SERIES } from "./data-year";
import { lackingOf } from "./lacking-minutes";

/** Klines beyond the close before and the open after, in mean ranges of their UTC day. $4 is the smallest step of a price. */
const SPIKES = `WITH usual AS MATERIALIZED (
    SELECT time / ${DAY_S} AS day, greatest(avg(high - low), $4::float8) AS size FROM kline WHERE ${SERIES} GROUP BY 1
  ), beside AS (
    SELECT time, open, high, low, close, lag(close) OVER minutes AS before, lead(open) OVER minutes AS after
    FROM kline WHERE ${SERIES} WINDOW minutes AS (ORDER BY time)
  )
  SELECT time::float8, open, high, low, close, before, after,
    greatest(high - greatest(before, after), least(before, after) - low) / size AS ratio
  FROM beside JOIN usual ON usual.day = beside.time / ${DAY_S}
  WHERE before IS NOT NULL AND after IS NOT NULL
    AND greatest(high - greatest(before, after), least(before, after) - low) >= ${DATA_SPIKE_MIN_RATIO} * size
  ORDER BY ratio DESC, time LIMIT ${DATA_SUSPECTS_PER_YEAR_COUNT}`;

/** Runs of minutes with the prices of the minute before; the first minute of a run is the one before them. */
const FROZEN = `WITH same AS (
    SELECT time, close FROM (
      SELECT time, close, time - lag(time) OVER minutes = ${MINUTE_S}
        AND (open, high, low, close) = (lag(open) OVER minutes, lag(high) OVER minutes, lag(low) OVER minutes, lag(close) OVER minutes)
        AS is_same
      FROM kline WHERE ${SERIES} WINDOW minutes AS (ORDER BY time)
    ) AS compared WHERE is_same
  ), runs AS (
    SELECT time, close, time - ${MINUTE_S} * row_number() OVER (ORDER BY time) AS run FROM same
  )
  SELECT min(time)::float8 - ${MINUTE_S} AS first, max(time)::float8 AS last, count(*)::float8 + 1 AS rows, min(close) AS close
  FROM runs GROUP BY run HAVING count(*) + 1 >= ${DATA_FROZEN_MIN_MINUTES}
  ORDER BY rows DESC, first LIMIT $4`;

/** The median close of the klines on one side of a jump. */
const levelAt = (side: "before" | "after") => `(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY close) FROM (
    SELECT close FROM kline WHERE ${SERIES} AND time ${side === "before" ? "<" : ">="} far.time
    ORDER BY time ${side === "before" ? "DESC" : ""} LIMIT ${DATA_JUMP_LASTING_COUNT}) AS near)`;

/** Klines that open far from the close before, in mean ranges of their UTC day, and the level on both sides. $4 is as for spikes. */
const JUMPS = `WITH beside AS MATERIALIZED (
    SELECT time, open, greatest(high, before) - least(low, before) AS range, before, (time - before_time) / ${MINUTE_S} AS minutes
    FROM (
      SELECT time, open, high, low, lag(close) OVER minutes AS before, lag(time) OVER minutes AS before_time
      FROM kline WHERE ${SERIES} WINDOW minutes AS (ORDER BY time)
    ) AS klines WHERE before IS NOT NULL
  ), usual AS (
    SELECT time / ${DAY_S} AS day, greatest(avg(range), $4::float8) AS size FROM beside GROUP BY 1
  ), far AS MATERIALIZED (
    SELECT time, before, open, abs(open - before) / size AS ratio FROM beside JOIN usual ON usual.day = beside.time / ${DAY_S}
    WHERE abs(open - before) >= ${DATA_JUMP_MIN_RATIO} * size * sqrt(minutes)
    ORDER BY ratio DESC LIMIT ${10 * DATA_SUSPECTS_PER_YEAR_COUNT}
  )
  SELECT time::float8, before, open, ratio FROM (
    SELECT far.*, ${levelAt("before")} AS level_before, ${levelAt("after")} AS level_after FROM far
  ) AS levels
  WHERE (level_after - level_before) / (open - before) >= 0.5
  ORDER BY ratio DESC, time LIMIT ${DATA_SUSPECTS_PER_YEAR_COUNT}`;

/** Frozen runs that are read: those in closed hours are left out afterwards. */
const FROZEN_READ_COUNT = 10 * DATA_SUSPECTS_PER_YEAR_COUNT;

interface Run {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly close: number;
}

/** Reads the suspicious places of a UTC year of a ticker. */
export async function readSuspects(
  client: pg.ClientBase,
  { ticker, digits }: { readonly ticker: string; readonly digits: number },
  year: number,
  calendar: Pick<Calendar, "sessionAt"> | undefined,
): Promise<DataSuspects> {
  const { from, to } = yearSpan(year);
  const values = [ticker, from, to];
  const spikes = await client.query<Omit<DataSpike, "at"> & { time: number }>(SPIKES, [...values, 10 ** -digits]);
  const frozen = await client.query<Run>(FROZEN, [...values, FROZEN_READ_COUNT]);
  const jumps = await client.query<Omit<DataJump, "at"> & { time: number }>(JUMPS, [...values, 10 ** -digits]);
  const lacking = await lackingOf(client, ticker, { from, to }, DATA_SUSPECTS_PER_YEAR_COUNT);
  const isClosed = ({ first }: Run) => calendar?.sessionAt(first * 1_000).state === "closed";
  return {
    year,
    spikes: spikes.rows.map(({ time, ...prices }) => ({ at: isoOf(time), ...prices })),
    frozen: frozen.rows
      .filter((run) => !isClosed(run))
      .slice(0, DATA_SUSPECTS_PER_YEAR_COUNT)
      .map(({ first, last, rows, close }): DataFrozenRun => ({ from: isoOf(first), to: isoOf(last), rows, close })),
    jumps: jumps.rows.map(({ time, ...jump }) => ({ at: isoOf(time), ...jump })),
    lacking: lacking.map(({ first, last, rows, reason }) => ({ from: isoOf(first), to: isoOf(last), rows, reason })),
  };
}
