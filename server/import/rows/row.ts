import { SIDES } from "#lib/domain/columns";
import type { DateStyle, DecimalMark, EpochUnit } from "./bytes";

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
  /** Unix time, in the unit of the layout. */
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
  | "askHigh"
  | "askLow"
  | "askClose"
  | "midOpen"
  | "midHigh"
  | "midLow"
  | "midClose"
  | "tickVolume"
  | "realVolume"
  | "spread";

/** The layout of the rows of a delimited text file: everything the reader needs to know about a format. */
export interface Layout {
  readonly kind: RowKind;
  /** One ASCII character. */
  readonly separator: string;
  /** Lines before the first row. */
  readonly headerLines: number;
  /** The role of each column, left to right. */
  readonly roles: readonly (Role | null)[];
  readonly dateStyle: DateStyle;
  /** The day that times count from, where the path of the file names it; on the clock of the file. */
  readonly startMs?: number;
  /** Where times may also be written as people and spreadsheets write them: the order of their dates. */
  readonly dateOrder?: DateOrder;
  /** The decimal mark of numbers, where rows show it. */
  readonly decimalMark?: DecimalMark | undefined;
  /** True when every time has an offset or names its zone (Z, +01:00, GMT+0100, US/Eastern). */
  readonly zoned?: boolean;
  /** Of Unix times: one for all rows of a file, because a row that lost digits looks like another unit. */
  readonly epochUnit?: EpochUnit;
  /** True where an empty price means "as in the row before". */
  readonly carriesPrices?: boolean;
}

/** Whether a file is of klines with all four ask prices. */
export function hasAsks(layout: Layout | null): boolean {
  return layout?.kind === "klines" && SIDES.ask.every((role) => layout.roles.includes(role));
}

/** What each of several names means. */
function meanings<Meaning extends string>(names: Readonly<Partial<Record<Meaning, string>>>): Readonly<Record<string, Meaning>> {
  const entries = Object.entries<string>(names as Record<Meaning, string>);
  return Object.fromEntries(entries.flatMap(([meaning, all]) => all.split(" ").map((name) => [name, meaning as Meaning])));
}

/** Column names found in files, as `stripped` returns them. */
const NAMES = meanings<Role>({
  date: "date",
  dateTime: "datetime gmttime utctime localtime",
  epoch: "timemsc timems",
  symbol: "symbol instrument ticker",
  timeframe: "timeframe granularity",
  bid: "bid bidprice",
  ask: "ask askprice",
  volume: "volume bidvolume",
  open: "open bidopen openbid bido",
  high: "high bidhigh highbid bidh",
  low: "low bidlow lowbid bidl",
  close: "close bidclose closebid bidc",
  askOpen: "askopen openask asko",
  askHigh: "askhigh highask askh",
  askLow: "asklow lowask askl",
  askClose: "askclose closeask askc",
  tickVolume: "tickvol tickvolume tickqty",
  realVolume: "vol realvolume",
  spread: "spread",
});

/** Names of a time column that say nothing about the form of the time; window_start is that of Massive's flat files. */
export const TIME_NAMES: readonly string[] =
  "time timestamp datetime date opentime windowstart timemsc timems datetimeutc timeutc opentimeutc time(utc) datetime(utc) time(gmt)".split(
    " ",
  );

/** Column names of German spreadsheets and charts, as plainName strips them, and what they mean. */
const GERMAN_NAMES = meanings({
  date: "datum",
  time: "zeit uhrzeit",
  timestamp: "zeitstempel",
  open: "eroffnung eroffnungskurs eroffn erster",
  high: "hoch hochst hochstkurs hochkurs",
  low: "tief tiefst tiefstkurs tiefkurs",
  close: "schluss schlusskurs zuletzt",
  volume: "volumen",
  bid: "geld",
  ask: "brief",
});

/**
 * A name in lower case without <>, spaces, underscores and points inside of it (bid.o); of letters that Windows writes
 * in an encoding of its own, the basic one.
 */
function stripped(name: string): string {
  const letters = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return letters.replace(/[<>"\s_]|\.(?=.)/g, "").replace(/^(er|h)(?:oe|\uFFFD)/, "$1o");
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
    if (!role || taken.has(role)) return null;
    taken.add(role);
    return role;
  });
}

/** What a file contains: ticks or klines. */
export type RowKind = "ticks" | "klines";

const NO_ROW = {
  /** Unix milliseconds (UTC once the clock of the source is known); the open time of a kline. */
  timeMs: Number.NaN,
  bid: Number.NaN,
  ask: Number.NaN,
  /** Real volume of a tick; of a kline a volume of which is not known what it counts. */
  volume: Number.NaN,
  open: Number.NaN,
  high: Number.NaN,
  low: Number.NaN,
  close: Number.NaN,
  tickVolume: Number.NaN,
  realVolume: Number.NaN,
  /** Price units. */
  spread: Number.NaN,
  /** Those of a kline: of a side all four are known, or none. */
  askOpen: Number.NaN,
  askHigh: Number.NaN,
  askLow: Number.NaN,
  askClose: Number.NaN,
  midOpen: Number.NaN,
  midHigh: Number.NaN,
  midLow: Number.NaN,
  midClose: Number.NaN,
};

/**
 * One row of a file, normalized; NaN where the source has no such column. Readers reuse one object for all rows, so copy what
 * you keep. Of a recorded tick also when it came, Unix milliseconds (NaN where it is not known), and what became of it.
 */
export type Row = typeof NO_ROW & { receivedMs?: number; outcome?: string };

/** An empty row. */
export const emptyRow = (): Row => ({ ...NO_ROW });

/** Receives what a reader finds, in the order of the file. What it has no function for is left out. */
export interface RowSink {
  /** `line` counts from 1; in a binary file it is the record. */
  row(row: Row, line: number): void;
  /** A row that cannot be read, and why. */
  malformed?(line: number, reason: string): void;
  /** A row without any price, or of ticks without bid and ask (a last price, a volume). */
  withoutQuote?(line: number): void;
  /** The header line again, as in files that were joined. */
  headerAgain?(line: number): void;
  /** A recorded tick that the service did not take. */
  notTaken?(line: number): void;
}

/** Parses the bytes of a file into rows. */
export interface RowReader {
  push(chunk: Buffer): void;
  end(): void;
}

/** What spreads can be written in. */
export const SPREAD_UNITS = ["points", "pips", "price"] as const;
export type SpreadUnit = (typeof SPREAD_UNITS)[number];

/** What a column of volumes counts: quotes, an amount, or it is not known. */
export type VolumeRole = "tickVolume" | "realVolume" | "volume";

/** What a reader needs besides the bytes. */
export interface ReaderSettings {
  /** Converts the clock of the source to UTC, both in milliseconds; NaN for a time that the clock skips. */
  toUtcMs(localMs: number): number;
  /** Decimal places of whole-number prices; null when prices are plain decimals. */
  readonly pointDigits: number | null;
  /** Decimal places of one unit of spread, a point or a pip; null when spreads are in price units. */
  readonly spreadDigits: number | null;
  /** What the column "volume" of klines is; "volume" where it is not known yet. */
  readonly volumeIs: VolumeRole;
  /** Length of a kline, milliseconds, where the times are those of its end; else 0. */
  readonly lateMs: number;
  /** True when the operator's clock overrides the offsets in the times. */
  readonly overrulesOffset: boolean;
  /** True to read recorded ticks whatever became of them; by default only those that were taken. */
  readonly everyOutcome?: boolean;
}

/** Times on the clock of the file, and numbers as they are written. */
export const AS_WRITTEN: ReaderSettings = {
  toUtcMs: (ms) => ms,
  pointDigits: null,
  spreadDigits: null,
  volumeIs: "volume",
  lateMs: 0,
  overrulesOffset: false,
};

/** Whether a kline stands for no quote: without volume, and with a single price. */
export function isFiller({ high, low, tickVolume, realVolume, volume }: Row): boolean {
  const has = (test: (value: number) => boolean) => test(tickVolume) || test(realVolume) || test(volume);
  return high === low && has((value) => value === 0) && !has((value) => value > 0);
}
