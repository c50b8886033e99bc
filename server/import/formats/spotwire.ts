import { TIMEFRAMES } from "#lib/contract/primitives";
import { SIDES } from "#lib/domain/columns";
import { epochUnitOf, hasOffset } from "#server/import/rows/bytes";
import { cellTexts } from "#server/import/rows/delimited";
import { plainName, type Role, rolesOf } from "#server/import/rows/row";
import { delimited, type Format, UTC_CLOCK } from "./format";

/** The columns that say what a kline is, of those that the API and `npm run export` write. */
const KLINE_COLUMNS = ["ticker", "timeframe", "time", "open", "high", "low", "close", "tick_volume", "real_volume", "spread"];

const NAMES = KLINE_COLUMNS.map(plainName);

/** The columns of mid prices, which the files for download have beside those of asks. */
const MID_ROLES: Readonly<Record<string, Role>> = Object.fromEntries(SIDES.mid.map((role) => [plainName(role), role]));

/**
 * `npm run export`, and format=csv of the API: its columns, with times in Unix seconds or, as 0.3 exported them, ISO 8601. Prices
 * and spreads are in price units, an empty cell is unknown, and every row is a kline, also one without volume.
 */
export const spotwireCsv: Format = {
  id: "spotwire",
  title: "Spotwire export",
  recognise({ lines: [header = "", first = ""] }) {
    const names = cellTexts(header, ",").map(plainName);
    if (!NAMES.every((name) => names.includes(name))) return null;
    const cells = cellTexts(first, ",");
    const time = cells[names.indexOf("time")] ?? "";
    const timeframe = TIMEFRAMES.find((known) => known === cells[names.indexOf("timeframe")]);
    const role: Role | null = /^\d+$/.test(time) ? "epoch" : hasOffset(time) ? "dateTime" : null;
    if (timeframe === undefined || role === null) return null;
    const roles = rolesOf(names, { time: role, timeframe: "timeframe", ...MID_ROLES });
    const recognition = delimited(
      {
        kind: "klines",
        separator: ",",
        headerLines: 1,
        roles,
        dateStyle: "ymd",
        zoned: role === "dateTime",
        epochUnit: epochUnitOf([time]),
      },
      UTC_CLOCK,
    );
    return { ...recognition, timeframe, exported: true };
  },
};

/** The columns of a recording, in its order. */
export const RECORDING_COLUMNS = ["time_msc", "bid", "ask", "volume", "received_ms", "outcome"] as const;

/** Those of its Parquet form, as server/store/segments/tick-parquet.ts writes them; it leaves out columns of which nothing is known. */
const FILE_COLUMNS: readonly (readonly [name: string, role: Role | null, isOptional: boolean])[] = [
  ["time", "dateTime", false],
  ["bid", "bid", false],
  ["ask", "ask", false],
  ["volume", "volume", true],
  ["received_at", "received", true],
  ["provider", null, false],
  ["outcome", "outcome", true],
];
/** An instant as the text of a Parquet file has it, or as a database writes it. */
const isInstant = (text: string) => /^\d{4}-\d\d-\d\d[T ]/.test(text) && hasOffset(text);

const ROLES: readonly Role[] = ["epoch", "bid", "ask", "volume", "received", "outcome"];

/** The roles of a header line; null where it is not that of a recording. */
function recordedRoles(names: readonly string[], [first = ""]: readonly string[]): readonly (Role | null)[] | null {
  if (names.join() === RECORDING_COLUMNS.map(plainName).join()) return ROLES;
  const columns = FILE_COLUMNS.filter(([name, , isOptional]) => !isOptional || names.includes(plainName(name)));
  const isFile = names.join() === columns.map(([name]) => plainName(name)).join() && isInstant(first);
  return isFile ? columns.map(([, role]) => role) : null;
}

/**
 * Ticks as `npm run export -- --ticks` writes them, taken or not, as CSV or Parquet: prices are in price units, an empty volume is
 * unknown. The times of CSV are Unix milliseconds.
 */
export const recordedTicks: Format = {
  id: "recording",
  title: "Spotwire recording",
  recognise({ lines: [header = "", first = ""] }) {
    const roles = recordedRoles(cellTexts(header, ",").map(plainName), cellTexts(first, ","));
    if (roles === null) return null;
    const recognition = delimited(
      {
        kind: "ticks",
        separator: ",",
        headerLines: 1,
        roles,
        dateStyle: "ymd",
        zoned: roles.includes("dateTime"),
        epochUnit: "ms",
      },
      UTC_CLOCK,
    );
    return { ...recognition, exported: true };
  },
};
