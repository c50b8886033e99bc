import type { CoverageRow } from "#lib/contract/coverage";
import { coveredShare, coveredText } from "./share";

/** Fewer rows than these stand on their own. */
const ALIKE_MIN_COUNT = 3;

/** Instruments of which a reader would see the same history. */
export interface Alike {
  /** The first of them, which stands for all. */
  readonly like: CoverageRow;
  readonly rows: readonly CoverageRow[];
}

const dayOf = (at: string | null) => at?.slice(0, 10);

/**
 * What a reader compares of a history: its first and last day, and each year as its share is shown. Undefined where minutes are
 * missing or may be: such a row is what readers look for. The count of klines is no part of it, because a market may close earlier than others.
 */
function lookOf(row: CoverageRow): string | undefined {
  if (row.rows > 0 && coveredShare(row) !== 1) return undefined;
  return JSON.stringify([
    dayOf(row.first_at),
    dayOf(row.last_at),
    row.years.map((year) => [year.year, coveredText(coveredShare(year))]),
  ]);
}

/** The rows in their order, where those that look alike are one, in the place of the first of them. */
export function foldAlike(rows: readonly CoverageRow[]): (CoverageRow | Alike)[] {
  const groups = new Map<string, CoverageRow[]>();
  const groupOf = new Map<CoverageRow, CoverageRow[]>();
  for (const row of rows) {
    const look = lookOf(row);
    const group = look === undefined ? [] : (groups.get(look) ?? []);
    group.push(row);
    groupOf.set(row, group);
    if (look !== undefined) groups.set(look, group);
  }
  return rows.flatMap((row): (CoverageRow | Alike)[] => {
    const alike = groupOf.get(row) ?? [];
    if (alike.length < ALIKE_MIN_COUNT) return [row];
    return alike[0] === row ? [{ like: row, rows: alike }] : [];
  });
}
