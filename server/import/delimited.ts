import { TAKEN } from "#lib/domain/tick-columns";
import { columnsOf, cutCells, emptyCells, isEmpty, priceFiller, quantityFiller, shown, spreadFiller } from "./columns";
import type { Layout, Role } from "./layout";
import { createLineCutter } from "./lines";
import { emptyRow, type ReaderSettings, type RowReader, type RowSink } from "./row";
import { createTimeReader } from "./times";

/** Columns that a row may omit at its end. */
const OPTIONAL: readonly (Role | null)[] = [null, "volume", "tickVolume", "realVolume", "spread"];

/** Reads rows of a delimited text file. A malformed row is reported and skipped; the rows around it are read. */
export function createDelimitedReader(layout: Layout, settings: ReaderSettings, sink: RowSink): RowReader {
  const cells = emptyCells();
  const row = emptyRow();
  const separator = layout.separator.charCodeAt(0);
  const readTime = createTimeReader(layout, settings);
  const [fillPrices, fillQuantities, fillSpread] = [
    priceFiller(layout, settings),
    quantityFiller(layout),
    spreadFiller(layout, settings),
  ];
  const quote = columnsOf(layout, ["bid", "ask"]);
  const constants = columnsOf(layout, ["symbol", "timeframe"]);
  const needed = 1 + layout.roles.findLastIndex((role) => !OPTIONAL.includes(role));
  const [received, outcome] = [layout.roles.indexOf("received"), layout.roles.indexOf("outcome")];
  const isRecorded = received >= 0 || outcome >= 0;
  // Written as the times of the ticks are.
  const timeRole: Role = layout.roles.includes("epoch") ? "epoch" : "dateTime";
  const readReceived = createTimeReader(
    { ...layout, roles: layout.roles.map((role) => (role === "received" ? timeRole : null)) },
    settings,
  );
  const isUtc = layout.zoned && !settings.overrulesOffset;
  const first = new Map<Role, string>();

  /** A row of another instrument or timeframe than the first one. */
  function otherSeries(bytes: Buffer): string | null {
    for (const { index, role } of constants) {
      const text = shown(bytes, cells, index);
      const expected = first.get(role) ?? text;
      first.set(role, expected);
      if (text !== expected) return `${text} in a file of ${expected}`;
    }
    return null;
  }

  /** A trade or a volume: where prices carry over, a row with neither bid nor ask, or one before the first bid and ask. */
  function saysNoQuote(): boolean {
    if (!layout.carriesPrices) return false;
    return quote.every(({ index }) => isEmpty(cells, index)) || Number.isNaN(row.bid) || Number.isNaN(row.ask);
  }

  /** Reads when a recorded tick came and what became of it. False where its row is not wanted. */
  function readRecorded(bytes: Buffer): boolean {
    row.outcome = outcome < 0 ? TAKEN : shown(bytes, cells, outcome);
    row.receivedMs = isEmpty(cells, received) ? Number.NaN : readReceived(bytes, cells);
    return settings.everyOutcome === true || row.outcome === TAKEN;
  }

  /** Null when the line was read into `row`, else the reason. */
  function readLine(bytes: Buffer): string | null {
    if (cells.count < needed) return `${cells.count} columns, at least ${needed} required`;
    const timeMs = readTime(bytes, cells);
    if (Number.isNaN(timeMs)) return "no valid time";
    row.timeMs = isUtc ? timeMs : settings.toUtcMs(timeMs);
    if (Number.isNaN(row.timeMs)) return "its time does not exist: the clock of the file skips it when it is put forward";
    return (
      otherSeries(bytes) ?? fillPrices(bytes, cells, row) ?? fillQuantities(bytes, cells, row) ?? fillSpread(bytes, cells, row)
    );
  }

  function onLine(bytes: Buffer, from: number, to: number, line: number): void {
    if (line <= layout.headerLines) return;
    cutCells(cells, bytes, from, to, separator);
    if (isRecorded && cells.count >= needed && !readRecorded(bytes)) {
      sink.notTaken?.(line);
      return;
    }
    const reason = readLine(bytes);
    if (reason !== null) sink.malformed?.(line, reason);
    else if (saysNoQuote()) sink.withoutQuote?.(line);
    else sink.row(row, line);
  }

  return createLineCutter(onLine);
}
