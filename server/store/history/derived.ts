import { createHash } from "node:crypto";
import { joinColumns, type KlineColumns } from "#lib/domain/columns";
import { isHistoryAway, isHistoryDamaged } from "#lib/storage-errors";
import type { Queries } from "#server/store/segments/segment-store";
import { type Segments, saidBy } from "#server/store/segments/segments";
import { isAsNow, type PeriodRow } from "./periods";

const DERIVED = `SELECT start::float8, content FROM history_derived WHERE ticker = $1 AND timeframe = $2
  AND (start, stamp) IN (SELECT * FROM unnest($3::bigint[], $4::text[]))`;
const DERIVE = `INSERT INTO history_derived (ticker, timeframe, start, stamp, content) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (ticker, timeframe, start) DO UPDATE SET (stamp, content) = ($4, $5)`;

/** Klines that are computed from the minutes of some months, and how. */
interface Derivable {
  readonly start: number;
  readonly months: readonly PeriodRow[];
  make(): Promise<KlineColumns>;
}

/** Raise it with every change of how klines are computed: those that are kept are then computed again. */
const RULES = "2";

/** Different where the months differ of which klines are computed. */
function stampOf({ months }: Derivable): string {
  return createHash("sha256")
    .update(RULES)
    .update(months.map(({ start, content }) => `${start} ${content}`).join())
    .digest("hex");
}

/**
 * Makes the read of klines that are computed from minutes: those that are kept already, or new ones, each after the one before.
 * @param keepIn where they are kept, so that they need not be computed again; null keeps none
 */
export function createDerived(segments: Segments, keepIn: Queries | null) {
  /** Reads segments that may have been swept, and leaves out what is damaged: it is computed again. */
  async function readKept(client: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, KlineColumns>> {
    try {
      return await segments.read(client, ids);
    } catch (error) {
      if (!isHistoryDamaged(error)) throw error;
      if (ids.length === 1) return new Map();
      const found = new Map<string, KlineColumns>();
      for (const id of ids) for (const [name, columns] of await readKept(client, [id])) found.set(name, columns);
      return found;
    }
  }

  /** Keeps computed klines. Where nothing can be stored now, as on a full disk, a later read computes them again. */
  async function keep(
    key: readonly [ticker: string, timeframe: "H1" | "D1", start: number, stamp: string],
    columns: KlineColumns,
  ) {
    if (keepIn === null) return;
    const [ticker, timeframe] = key;
    try {
      const content = await segments.write(keepIn, saidBy(columns, 0, Number.NaN), { ticker, timeframe }, 0);
      await keepIn.query(DERIVE, [...key, content]);
    } catch (error) {
      if (!isHistoryAway(error)) throw error;
    }
  }

  return async (client: Queries, ticker: string, timeframe: "H1" | "D1", parts: readonly Derivable[]): Promise<KlineColumns> => {
    // Only current months are kept: reads of an earlier time are rare, and would overwrite them.
    const stamps = new Map(parts.filter(({ months }) => months.every(isAsNow)).map((part) => [part.start, stampOf(part)]));
    const values = [ticker, timeframe, [...stamps.keys()], [...stamps.values()]];
    const { rows } = await client.query<{ start: number; content: string }>(DERIVED, values);
    const contents = await readKept(
      client,
      rows.map(({ content }) => content),
    );
    const kept = new Map(rows.map(({ start, content }) => [start, contents.get(content)]));
    const found: KlineColumns[] = [];
    for (const { start, make } of parts) {
      const columns = kept.get(start) ?? (await make());
      found.push(columns);
      const stamp = stamps.get(start);
      if (kept.get(start) === undefined && stamp !== undefined && columns.time.length > 0)
        await keep([ticker, timeframe, start, stamp], columns);
    }
    return joinColumns(found);
  };
}
