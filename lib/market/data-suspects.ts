import type pg from "pg";
import {
  DATA_FROZEN_MIN_MINUTES,
  DATA_SPIKE_MIN_RATIO,
  DATA_SUSPECTS_PER_YEAR_COUNT,
  type DataFrozenRun,
  type DataSpike,
  type DataSuspects,
} from "#lib/contract/portal-data";
import type { Calendar } from "#lib/domain/calendar";
import { DAY_S, MINUTE_S } from "#lib/units";
import { isoOf, yearSpan } from "./data-reads";
import { SERIES } from "./data-year";

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
  const isClosed = ({ first }: Run) => calendar?.sessionAt(first * 1_000).state === "closed";
  return {
    year,
    spikes: spikes.rows.map(({ time, ...prices }) => ({ at: isoOf(time), ...prices })),
    frozen: frozen.rows
      .filter((run) => !isClosed(run))
      .slice(0, DATA_SUSPECTS_PER_YEAR_COUNT)
      .map(({ first, last, rows, close }): DataFrozenRun => ({ from: isoOf(first), to: isoOf(last), rows, close })),
  };
}
