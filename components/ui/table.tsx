import type { ReactNode } from "react";
import type { ApiFailure } from "../portal/api";
import { FailureNotice } from "./failure";
import { Skeleton } from "./skeleton";

/** One column: its header, and how it renders a row. */
export interface Column<Row> {
  readonly head: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers and times: monospaced, tabular figures, right-aligned. */
  readonly numeric?: boolean;
  /** Takes the remaining width. */
  readonly grow?: boolean;
  /** Hidden below this width. */
  readonly from?: "sm" | "md" | "lg" | "xl";
}

interface TableProps<Row> {
  /** The caption of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  /** What to show when there are no rows. */
  readonly empty: ReactNode;
  readonly failure?: ApiFailure | undefined;
  readonly retry?: () => void;
  /** Number of placeholder rows while loading. */
  readonly expected?: number;
}

const FROM = { sm: "max-sm:hidden", md: "max-md:hidden", lg: "max-lg:hidden", xl: "max-xl:hidden" } as const;
const HEAD = "whitespace-nowrap px-3 py-2 font-medium text-ink-faint text-xs first:pl-4 last:pr-4";
const CELL = "px-3 py-2.5 first:pl-4 last:pr-4";

function place<Row>({ numeric, from, grow }: Column<Row>): string {
  return `${numeric ? "text-right" : "text-left"} ${from === undefined ? "" : FROM[from]} ${grow ? "w-full" : ""}`;
}

function SkeletonRows<Row>({ columns, count }: { columns: readonly Column<Row>[]; count: number }) {
  return Array.from({ length: count }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
    <tr key={row} className="border-line border-b last:border-b-0">
      {columns.map((column, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
        <td key={index} className={`${CELL} ${place(column)}`}>
          <Skeleton className="my-1 h-4 w-full max-w-24" />
        </td>
      ))}
    </tr>
  ));
}

/**
 * A table in all its states: loading, empty, failed with a retry button, or filled. Rows stay when reading them again failed, below
 * the failure.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, rowKey, empty, failure, retry, expected = 3 } = props;
  const failed = <FailureNotice failure={failure} retry={retry} />;
  if (rows === undefined && failure !== undefined) return failed;
  if (rows?.length === 0)
    return (
      <>
        {failed}
        <div className="rounded-lg border border-line border-dashed p-6 text-ink-soft text-sm leading-6">{empty}</div>
      </>
    );
  return (
    <>
      {failed}
      <section
        aria-label={caption}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
        tabIndex={0}
        className="relative overflow-x-auto rounded-lg border border-line bg-surface"
      >
        <table aria-busy={rows === undefined} className="w-full text-sm">
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr className="border-line border-b">
              {columns.map((column, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
                <th key={index} scope="col" className={`${HEAD} ${place(column)}`}>
                  {column.head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows === undefined ? <SkeletonRows columns={columns} count={expected} /> : null}
            {rows?.map((row) => (
              <tr key={rowKey(row)} className="border-line border-b last:border-b-0">
                {columns.map((column, index) => (
                  <td
                    // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
                    key={index}
                    className={`${CELL} ${place(column)} ${column.numeric ? "whitespace-nowrap font-mono text-[13px] tabular-nums" : ""}`}
                  >
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
