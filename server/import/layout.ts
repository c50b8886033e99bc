import type { DateStyle, DecimalMark } from "./bytes";
import type { RowKind } from "./row";

/** The order of year, month and day in a date. */
export const DATE_ORDERS = ["ymd", "dmy", "mdy"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** What a column of a delimited file contains. Columns without a role are ignored. */
export type Role =
  | "date"
  /** Time of day, beside a date column. */
  | "timeOfDay"
  /** Date and time of day in one column, separated by a space or T. */
  | "dateTime"
  /** Unix seconds, milliseconds, microseconds or nanoseconds, distinguished by their size. */
  | "epoch"
  /** Milliseconds since the start of the day that the layout names. */
  | "sinceMidnight"
  | "symbol"
  /** Of all rows, as the column of the symbol is. */
  | "timeframe"
  | "bid"
  | "ask"
  | "volume"
  /** When a recorded tick came, Unix milliseconds. */
  | "received"
  /** What became of a recorded tick. */
  | "outcome"
  | "open"
  | "high"
  | "low"
  | "close"
  | "askOpen"
  | "askClose"
  | "tickVolume"
  | "realVolume"
  | "spread";

/** The layout of the rows of a delimited text file: everything the reader needs to know about a format. */
export interface Layout {
  readonly kind: RowKind;
  /** One ASCII character. */
  readonly separator: string;
  /** Lines before the first row. */
  readonly headerLines: 0 | 1;
  /** The role of each column, left to right. */
  readonly roles: readonly (Role | null)[];
  readonly dateStyle: DateStyle;
  /** The day that times count from, where the path of the file names it; on the clock of the file. */
  readonly startMs?: number;
  /** Where times may also be written as people and spreadsheets write them: the order of their dates. */
  readonly dateOrder?: DateOrder;
  /** The decimal mark of numbers, where rows show it. */
  readonly decimalMark?: DecimalMark | undefined;
  /** True when every time has an offset (Z, +01:00, GMT+0100). */
  readonly zoned: boolean;
  /** True where an empty price means "as in the row before". */
  readonly carriesPrices: boolean;
}

/** Column names found in files, in lower case, without <>, spaces and underscores. */
const NAMES: Readonly<Record<string, Role>> = {
  date: "date",
  datetime: "dateTime",
  gmttime: "dateTime",
  utctime: "dateTime",
  localtime: "dateTime",
  timemsc: "epoch",
  timems: "epoch",
  bid: "bid",
  bidprice: "bid",
  ask: "ask",
  askprice: "ask",
  volume: "volume",
  bidvolume: "volume",
  open: "open",
  high: "high",
  low: "low",
  close: "close",
  bidopen: "open",
  bidhigh: "high",
  bidlow: "low",
  bidclose: "close",
  askopen: "askOpen",
  askclose: "askClose",
  tickvol: "tickVolume",
  tickvolume: "tickVolume",
  vol: "realVolume",
  realvolume: "realVolume",
  spread: "spread",
  symbol: "symbol",
  instrument: "symbol",
  timeframe: "timeframe",
  granularity: "timeframe",
  ticker: "symbol",
};

/** Names of a time column that say nothing about the form of the time. */
export const TIME_NAMES: readonly string[] = [
  "time",
  "timestamp",
  "datetime",
  "date",
  "opentime",
  "timemsc",
  "timems",
  "datetimeutc",
  "timeutc",
  "opentimeutc",
];

/** Column names of German spreadsheets and charts, as plainName strips them, and what they mean. */
const GERMAN_NAMES: Readonly<Record<string, string>> = {
  datum: "date",
  zeit: "time",
  uhrzeit: "time",
  zeitstempel: "timestamp",
  eroffnung: "open",
  eroffnungskurs: "open",
  eroffn: "open",
  erster: "open",
  hoch: "high",
  hochst: "high",
  hochstkurs: "high",
  hochkurs: "high",
  tief: "low",
  tiefst: "low",
  tiefstkurs: "low",
  tiefkurs: "low",
  schluss: "close",
  schlusskurs: "close",
  zuletzt: "close",
  volumen: "volume",
  geld: "bid",
  brief: "ask",
};

/** A name in lower case without <>, spaces and underscores; of letters that Windows writes in an encoding of its own, the basic one. */
function stripped(name: string): string {
  const letters = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return letters.replace(/[<>"\s_]/g, "").replace(/^(er|h)(?:oe|\uFFFD)/, "$1o");
}

/** Whether a column has a German name: its dates begin with the day. */
export function isGermanName(name: string): boolean {
  return Object.hasOwn(GERMAN_NAMES, stripped(name).replace(/\.$/, ""));
}

/** Whether a column can have this name (as plainName returns it). */
export function isColumnName(name: string): boolean {
  return TIME_NAMES.includes(name) || Object.hasOwn(NAMES, name);
}

/** Normalizes a column name to the spelling of NAMES. */
export function plainName(name: string): string {
  const plain = stripped(name);
  return GERMAN_NAMES[plain.replace(/\.$/, "")] ?? plain;
}

/** The roles of a header line; names in `own` (as plainName returns them) override the common ones. */
export function rolesOf(header: readonly string[], own: Readonly<Record<string, Role | null>> = {}): (Role | null)[] {
  const taken = new Set<Role>();
  return header.map((cell) => {
    const name = plainName(cell);
    const role = Object.hasOwn(own, name) ? own[name] : Object.hasOwn(NAMES, name) ? NAMES[name] : null;
    // The first of two columns with the same role counts.
    if (role === null || role === undefined || taken.has(role)) return null;
    taken.add(role);
    return role;
  });
}
