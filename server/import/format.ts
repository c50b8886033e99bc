import type { DateStyle } from "./bytes";
import type { ClockRule } from "./clock-detect";
import type { KnownClock } from "./clock-zone";
import { createDelimitedReader } from "./delimited";
import type { Layout, Role } from "./layout";
import type { ReaderSettings, RowKind, RowReader, RowSink } from "./row";

/** The beginning of a file, as formats look at it. */
export interface Head {
  /** With folders, `/` between them, without .gz. */
  readonly path: string;
  /** Lower case, the last part of the path. */
  readonly fileName: string;
  /** The first lines of a text, without empty ones; none for binary data. */
  readonly lines: readonly string[];
  /** Bytes the head holds. */
  readonly sizeBytes: number;
  /** The day (and hour) given with --date, Unix milliseconds; for files whose times count from the start of an hour or day. */
  readonly dateMs: number | null;
}

/** What tells the clock of a file: the format itself, or the times in it. */
export type FormatClock = { readonly fixed: KnownClock } | { readonly detect: ClockRule };

/** A file whose format was recognised. */
export interface Recognition {
  readonly kind: RowKind;
  /** Null for binary files. */
  readonly layout: Layout | null;
  readonly clock: FormatClock;
  /** Prices are whole points by the format's own rule. */
  readonly inPoints: boolean;
  /** Why such a file is not imported, though it is known. */
  readonly refusal: string | null;
  createReader(settings: ReaderSettings, sink: RowSink): RowReader;
}

/** One kind of file that is understood. */
export interface Format {
  /** As `--format` takes it. */
  readonly id: string;
  readonly title: string;
  /** Null when the file is of another kind. */
  recognise(head: Head): Recognition | null;
}

/** Servers of MetaTrader: most keep EET or New York + 7 h, and none says so in its files. */
export const METATRADER_CLOCK: FormatClock = {
  detect: { likely: ["EET", "NY+7", "UTC", "CET", "Europe/London"], documented: null },
};
/** HistData documents EST without daylight saving; its 2021 files switch on the European dates. */
export const HISTDATA_CLOCK: FormatClock = { detect: { likely: ["-05:00", "EST+EU", "America/New_York"], documented: "-05:00" } };

export const UTC_CLOCK: FormatClock = { fixed: "UTC" };

/** The recognition of a delimited file. */
export function delimited(layout: Layout, clock: FormatClock, refusal: string | null = null): Recognition {
  return {
    kind: layout.kind,
    layout,
    clock,
    inPoints: false,
    refusal,
    createReader: (settings, sink) => createDelimitedReader(layout, settings, sink),
  };
}

/** A layout of columns without a header line. */
export function headless(kind: RowKind, separator: string, roles: readonly (Role | null)[], dateStyle: DateStyle): Layout {
  return { kind, separator, headerLines: 0, roles, dateStyle, zoned: false, carriesPrices: false };
}

/** The separator of a header line: the one of tab, semicolon and comma that occurs most. */
export function separatorOf(header: string): string {
  const counts = ["\t", ";", ","].map((separator) => ({ separator, count: header.split(separator).length }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}

/** Klines of ask prices, by the word in the file's name that exports put there. */
export function refuseAsk(head: Head, kind: RowKind): string | null {
  const isAsk = kind === "klines" && /(^|[^a-z])ask([^a-z]|$)/.test(head.fileName);
  return isAsk ? "ask klines: klines here are of bid prices, import the bid file" : null;
}
