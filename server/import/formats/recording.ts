import { cellTexts } from "../columns";
import { delimited, type Format, UTC_CLOCK } from "../format";
import { plainName, type Role } from "../layout";

/** The columns of a recording, in its order. */
export const RECORDING_COLUMNS = ["time_msc", "bid", "ask", "volume", "received_ms", "outcome"] as const;

const ROLES: readonly Role[] = ["epoch", "bid", "ask", "volume", "received", "outcome"];

/**
 * Ticks as `npm run export -- --ticks` writes them, taken or not: times are Unix milliseconds, prices are in price units, an
 * empty volume is unknown.
 */
export const recordedTicks: Format = {
  id: "recording",
  title: "Spotwire recording",
  recognise({ lines: [header = ""] }) {
    const names = cellTexts(header, ",").map(plainName);
    if (names.join() !== RECORDING_COLUMNS.map(plainName).join()) return null;
    const recognition = delimited(
      {
        ...{ kind: "ticks", separator: ",", headerLines: 1, roles: ROLES, dateStyle: "ymd" },
        ...{ zoned: false, carriesPrices: false },
      },
      UTC_CLOCK,
    );
    return { ...recognition, exported: true };
  },
};
