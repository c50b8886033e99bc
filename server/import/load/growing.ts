import { rowsBetween } from "#lib/domain/columns";

/** Rows that the first columns have room for. */
const ROOM_ROWS = 16_384;

function copyInto<Columns extends object>(target: Columns, part: Columns, at: number): void {
  const columns = target as Record<string, Float64Array>;
  for (const [name, column] of Object.entries(part)) columns[name]?.set(column, at);
}

/**
 * Columns of numbers to which rows are added, and of which the first are taken away. Begins without rows.
 * @param empty makes columns with room for so many rows, `time` among them
 * @param set writes a row into row `at`
 */
export function growingColumns<Columns extends { readonly time: Float64Array }, Row>(
  empty: (rows: number) => Columns,
  set: (columns: Columns, at: number, row: Row) => void,
) {
  let columns = empty(ROOM_ROWS);
  let filled = 0;

  function makeRoom(count: number): void {
    let room = columns.time.length;
    if (filled + count <= room) return;
    while (filled + count > room) room *= 2;
    const larger = empty(room);
    copyInto(larger, rowsBetween(columns, 0, filled), 0);
    columns = larger;
  }

  return {
    rows: () => filled,
    add(row: Row): void {
      makeRoom(1);
      set(columns, filled, row);
      filled += 1;
    },
    append(part: Columns): void {
      if (part.time.length === 0) return;
      makeRoom(part.time.length);
      copyInto(columns, part, filled);
      filled += part.time.length;
    },
    /** Takes the first rows away. They are in memory of their own. */
    take(count: number): Columns {
      const taken = empty(count);
      copyInto(taken, rowsBetween(columns, 0, count), 0);
      for (const column of Object.values(columns) as Float64Array[]) column.copyWithin(0, count, filled);
      filled -= count;
      return taken;
    },
  };
}
