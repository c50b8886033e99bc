import type { Timeframe } from "#lib/contract/primitives";
import { UsageError } from "#server/cli/usage-error";
import { Unsure } from "#server/import/failure";
import type { DateStyle } from "#server/import/rows/bytes";
import { createDelimitedReader } from "#server/import/rows/delimited";
import {
  type DateOrder,
  type Layout,
  plainName,
  type ReaderSettings,
  type Role,
  type RowKind,
  type RowReader,
  type RowSink,
} from "#server/import/rows/row";
import { clockNamed, type KnownClock, utcOn } from "./clocks";

/** What the operator says about the form of a file; null where nothing is said. */
export interface Given {
  /** The day (and hour) of --date, Unix milliseconds; for files whose times count from the start of an hour or day. */
  readonly dateMs: number | null;
  /** The number of January in the paths of .bi5 files, of --months or as they show it. */
  readonly months: 0 | 1 | null;
  /** The names of the columns, of --columns. */
  readonly columns: readonly string[] | null;
  /** Of --kind. */
  readonly kind: RowKind | null;
  /** Of --date-format. */
  readonly dateOrder: DateOrder | null;
}

/** The beginning of a file, which formats examine. */
export interface Head {
  /** The path with its folders, `/` between them, without .gz. */
  readonly path: string;
  /** The last part of the path, in lower case. */
  readonly fileName: string;
  /** The first non-empty lines of a text; none for binary data. */
  readonly lines: readonly string[];
  /** Size of the head. */
  readonly sizeBytes: number;
  readonly given: Given;
  /** All lines of the head that are not empty; the last may be incomplete. */
  everyLine(): readonly string[];
}

/** The expected clock of a file, before its times are examined. */
export interface ClockRule {
  /** Tried in this order, then all other known clocks. Of clocks that give the same times, the first one is named. */
  readonly likely: readonly KnownClock[];
}

/** What determines the clock of a file: the format itself, or the times in it. */
export type FormatClock = { readonly fixed: KnownClock } | { readonly detect: ClockRule };

/** A file whose format was recognised. */
export interface Recognition {
  readonly kind: RowKind;
  /** Null for binary files. */
  readonly layout: Layout | null;
  readonly clock: FormatClock;
  /** True when the format stores prices as whole points. */
  readonly inPoints: boolean;
  /** Why such a file is not imported although its format is known. */
  readonly refusal: string | null;
  /** The timeframe and the instrument, where the file states them in each row, or outside of its rows. */
  readonly timeframe?: Timeframe;
  readonly symbol?: string;
  /** True where Spotwire wrote the file, whose rows are then taken as they are. */
  readonly exported?: boolean;
  createReader(settings: ReaderSettings, sink: RowSink): RowReader;
}

/** One supported kind of file. */
export interface Format {
  /** The value of `--format`. */
  readonly id: string;
  readonly title: string;
  /** Null when the file has another format. */
  recognise(head: Head): Recognition | null;
}

/** MetaTrader servers: most use EET or New York + 7 h, and their files do not state it. */
export const METATRADER_CLOCK: FormatClock = { detect: { likely: ["EET", "NY+7", "UTC", "CET", "Europe/London"] } };
/** HistData documents EST without daylight saving; its 2021 files change on the European dates. */
export const HISTDATA_CLOCK: FormatClock = { detect: { likely: ["-05:00", "EST+EU", "America/New_York"] } };

export const UTC_CLOCK: FormatClock = { fixed: "UTC" };

/** The zone that rows name. @throws Unsure when it is not known, or means several */
function zoneNamed(name: string): ReaderSettings["toUtcMs"] {
  try {
    return utcOn(clockNamed(name));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new Unsure(`its times name the zone "${name}", and --tz would overrule it. ${error.message}`);
  }
}

/** Recognition of a delimited file. */
export function delimited(layout: Layout, clock: FormatClock, refusal: string | null = null): Recognition {
  return {
    kind: layout.kind,
    layout,
    clock,
    inPoints: false,
    refusal,
    createReader: (settings, sink) => createDelimitedReader(layout, settings, sink, zoneNamed),
  };
}

/** A layout of columns without a header line. */
export function headless(kind: RowKind, separator: string, roles: readonly (Role | null)[], dateStyle: DateStyle): Layout {
  return { kind, separator, headerLines: 0, roles, dateStyle };
}

/** The separator of a header line: tab, semicolon or comma, whichever occurs most. */
export function separatorOf(header: string): string {
  const counts = ["\t", ";", ","].map((separator) => ({ separator, count: header.split(separator).length }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}

/** The names of a header line, as plainName returns them, and the cells of the first rows. */
export function headed({ lines: [header = "", ...lines] }: Head) {
  const separator = separatorOf(header);
  const rows = lines.map((line) => line.split(separator));
  return { separator, names: header.split(separator).map(plainName), rows };
}

/** Detects klines of ask prices by the word that exports put in the file name. */
export function refuseAsk(head: Head, kind: RowKind): string | null {
  const isAsk = kind === "klines" && /(^|[^a-z])ask([^a-z]|$)/.test(head.fileName);
  return isAsk ? "ask klines: Spotwire stores klines of bid prices, import the bid file" : null;
}
