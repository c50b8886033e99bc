import { durationText } from "#lib/duration";
import { printableName } from "#lib/printable";
import { type BoardRow, type BoardView, priceOf } from "./stream-board";

const SEPARATOR = "  ";
const NOTHING = "–";

/** One column; when not all fit, those with the lowest `keep` are dropped first. */
interface Column {
  readonly title: string;
  readonly keep: number;
  readonly left?: boolean;
  cell(row: BoardRow, nowMs: number): string;
}

/** Short names of the states of a market; unknown states are shown unchanged. */
const MARKETS: Readonly<Record<string, string>> = {
  open_data_stale: "stale",
  late_open_data_stale: "late",
  open_data_missing: "missing",
  not_offered: "not offered",
};

const fixed = (row: BoardRow, price: number | null | undefined, more = 0) =>
  price === undefined || price === null ? NOTHING : price.toFixed(row.decimals + more);

/** A price of the row's quote or snapshot. */
const quoted = (row: BoardRow, field: "bid" | "ask") =>
  fixed(row, row.record === undefined || row.record.type === "kline" ? undefined : row.record.data[field]);

/** A price of the row's kline. */
const candle = (row: BoardRow, field: "open" | "high" | "low" | "close") =>
  fixed(row, row.record?.type === "kline" ? row.record.data[field] : undefined);

function changeOf(row: BoardRow): string {
  if (row.record === undefined || row.firstPrice === undefined) return NOTHING;
  const change = priceOf(row.record) - row.firstPrice;
  const text = fixed(row, Math.abs(change));
  if (Number(text) === 0) return text;
  return change > 0 ? `+${text}` : `-${text}`;
}

/** The time since the row's last record. */
const ageOf = ({ heardAtMs }: BoardRow, nowMs: number) =>
  heardAtMs === undefined ? NOTHING : durationText(nowMs - heardAtMs, 1);

const TICKER: Column = { title: "TICKER", keep: 10, left: true, cell: ({ ticker }) => ticker };
const QUOTE: readonly Column[] = [
  { title: "BID", keep: 9, cell: (row) => quoted(row, "bid") },
  { title: "ASK", keep: 8, cell: (row) => quoted(row, "ask") },
];
const KLINE: readonly Column[] = [
  { title: "OPEN", keep: 5, cell: (row) => candle(row, "open") },
  { title: "HIGH", keep: 6, cell: (row) => candle(row, "high") },
  { title: "LOW", keep: 6, cell: (row) => candle(row, "low") },
  { title: "CLOSE", keep: 9, cell: (row) => candle(row, "close") },
];
const REST: readonly Column[] = [
  { title: "SPREAD", keep: 3, cell: (row) => fixed(row, row.record?.data.spread) },
  { title: "CHANGE", keep: 4, cell: changeOf },
  { title: "MARKET", keep: 7, left: true, cell: ({ market }) => (market === undefined ? NOTHING : (MARKETS[market] ?? market)) },
  { title: "SEQ", keep: 2, cell: ({ record }) => (record === undefined ? NOTHING : String(record.seq)) },
  { title: "MERGED", keep: 1, cell: ({ merged }) => String(merged) },
  { title: "GAPS", keep: 5, cell: ({ gaps }) => String(gaps) },
  { title: "AGE", keep: 7, cell: ageOf },
];

/** A line without characters that a terminal would obey, truncated to fit, with a mark at the end. */
function cut(line: string, width: number): string {
  const text = printableName(line);
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

function table(columns: readonly Column[], rows: readonly BoardRow[], nowMs: number, width: number): string[] {
  const cells = columns.map(({ title, cell }) => [title, ...rows.map((row) => cell(row, nowMs))]);
  const widths = cells.map((texts) => Math.max(...texts.map((text) => text.length)));
  const total = widths.reduce((sum, one) => sum + one, 0) + SEPARATOR.length * (columns.length - 1);
  if (total > width && columns.length > 1) {
    const least = Math.min(...columns.map(({ keep }) => keep));
    const dropped = columns.findLastIndex(({ keep }) => keep === least);
    return table(
      columns.filter((_, index) => index !== dropped),
      rows,
      nowMs,
      width,
    );
  }
  return [0, ...rows.map((_, index) => index + 1)].map((line) =>
    columns
      .map(({ left }, index) => {
        const text = cells[index]?.[line] ?? "";
        return left ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0);
      })
      .join(SEPARATOR)
      .trimEnd(),
  );
}

/**
 * The board as at most `size.rows` lines of at most `size.columns` characters. Columns that do not fit are dropped, the least
 * important first; tickers that do not fit are counted.
 */
export function renderBoard(view: BoardView, nowMs: number, size: { readonly columns: number; readonly rows: number }): string[] {
  const { state, url, note } = view.connection;
  const head = [`${view.title}  ${url}`, `${state}${note === "" ? "" : `  ${note}`}`, ""];
  const foot = view.trouble === "" ? [] : ["", view.trouble];
  const isKline = view.title.startsWith("kline");
  const room = Math.max(1, size.rows - head.length - foot.length - 1);
  const hidden = view.rows.length <= room ? 0 : view.rows.length - room + 1;
  const shown = view.rows.slice(0, view.rows.length - hidden);
  const lines = table([TICKER, ...(isKline ? KLINE : QUOTE), ...REST], shown, nowMs, size.columns);
  const more = hidden === 0 ? [] : [`… and ${hidden} more`];
  return [...head, ...lines, ...more, ...foot].slice(0, Math.max(1, size.rows)).map((line) => cut(line, size.columns));
}
