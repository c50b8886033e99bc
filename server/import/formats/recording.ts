import { cellTexts } from "../columns";
import { delimited, type Format, UTC_CLOCK } from "../format";
import { plainName, type Role } from "../layout";

/** The columns of a recording, in its order. */
export const RECORDING_COLUMNS = ["time_msc", "bid", "ask", "volume", "received_ms", "outcome"] as const;

/** Those of its Parquet form, as lib/segments/tick-parquet.ts writes them; it leaves out columns of which nothing is known. */
const FILE_COLUMNS: readonly (readonly [name: string, role: Role | null, isOptional: boolean])[] = [
  ["time", "dateTime", false],
  ["bid", "bid", false],
  ["ask", "ask", false],
  ["volume", "volume", true],
  ["received_at", "received", true],
  ["provider", null, false],
  ["outcome", "outcome", true],
];
/** An instant as the text of a Parquet file has it. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const ROLES: readonly Role[] = ["epoch", "bid", "ask", "volume", "received", "outcome"];

/** The roles of a header line; null where it is not that of a recording. */
function recordedRoles(names: readonly string[], [first = ""]: readonly string[]): readonly (Role | null)[] | null {
  if (names.join() === RECORDING_COLUMNS.map(plainName).join()) return ROLES;
  const columns = FILE_COLUMNS.filter(([name, , isOptional]) => !isOptional || names.includes(plainName(name)));
  const isFile = names.join() === columns.map(([name]) => plainName(name)).join() && INSTANT.test(first);
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
        ...{ kind: "ticks", separator: ",", headerLines: 1, roles, dateStyle: "ymd" },
        ...{ zoned: roles.includes("dateTime"), carriesPrices: false },
      },
      UTC_CLOCK,
    );
    return { ...recognition, exported: true };
  },
};
