import type { ReactNode } from "react";

/** By which column rows are sorted; `none` is their own order. */
export interface ColumnSorting<Key extends string> {
  readonly key: Key | "none";
  readonly descending: boolean;
}

interface SortHeadProps<Key extends string> {
  readonly column: Key;
  readonly className: string;
  readonly sorting: ColumnSorting<Key>;
  readonly onSort: (sorting: ColumnSorting<Key>) => void;
  /** The column of names: on the left, and sorted from A to Z first. Others begin with their largest numbers, which readers look for first. */
  readonly leads?: boolean;
  readonly children: ReactNode;
}

/** The class of the heads of a table that sorts. */
export const SORT_HEAD = "h-10 font-medium text-ink-faint text-xs";

/** The head of a column that sorts: first one way, then the other, then not. */
export function SortHead<Key extends string>({
  column,
  className,
  sorting,
  onSort,
  leads = false,
  children,
}: SortHeadProps<Key>) {
  const active = sorting.key === column;
  const first = !leads;
  const next: ColumnSorting<Key> =
    active && sorting.descending !== first
      ? { key: "none", descending: false }
      : { key: column, descending: active ? !first : first };
  return (
    <th
      scope="col"
      aria-sort={active ? (sorting.descending ? "descending" : "ascending") : "none"}
      className={`${SORT_HEAD} ${className}`}
    >
      <button
        type="button"
        onClick={() => onSort(next)}
        className="inline-flex min-h-8 pointer-coarse:min-h-10 items-center gap-1 hover:text-ink"
      >
        {leads ? children : null}
        <span aria-hidden="true" className={active ? "text-ink" : "opacity-0"}>
          {sorting.descending ? "↓" : "↑"}
        </span>
        {leads ? null : children}
      </button>
    </th>
  );
}
