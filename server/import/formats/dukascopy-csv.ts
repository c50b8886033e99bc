import { delimited, type Format, type FormatClock, refuseAsk, separatorOf, UTC_CLOCK } from "../format";
import { type Layout, plainName, type Role, rolesOf } from "../layout";
import { areCounts } from "../volumes";

/** Names of the time column in JForex exports; the part in parentheses is the zone. */
const JFOREX_TIME = /^(gmttime|localtime|eettime|utctime|time\((utc|gmt|eet|local)\))$/;

function jforexClock(name: string, zoned: boolean): FormatClock {
  if (/eet/.test(name)) return { fixed: "EET" };
  if (/local/.test(name) && !zoned) return { detect: { likely: ["UTC"] } };
  return UTC_CLOCK;
}

/**
 * Exports of Dukascopy's JForex platform: `Gmt time,Open,High,Low,Close,Volume` or `Gmt time,Ask,Bid,AskVolume,BidVolume`
 * with `31.01.2020 17:00:00.123`; "Local time" adds its offset; newer versions write `Time (EET)` and `2020.01.31 …`.
 * The volume of klines is in millions.
 */
export const jforex: Format = {
  id: "jforex",
  title: "Dukascopy, JForex export",
  recognise(head) {
    const header = head.lines[0] ?? "";
    const separator = separatorOf(header);
    const names = header.split(separator).map(plainName);
    const [time = ""] = names;
    if (!JFOREX_TIME.test(time)) return null;
    const kind = names.includes("bid") ? "ticks" : "klines";
    const own: Record<string, Role | null> = { [time]: "dateTime", ...(kind === "klines" && { volume: "realVolume" as const }) };
    const [first = ""] = (head.lines[1] ?? "").split(separator);
    const zoned = /[+-]\d\d:?\d\d$|Z$/.test(first.trim());
    const layout: Layout = {
      kind,
      separator,
      headerLines: 1,
      roles: rolesOf(names, own),
      dateStyle: /^\d\d\D/.test(first) ? "dmy" : "ymd",
      zoned,
      carriesPrices: false,
    };
    return delimited(layout, jforexClock(time, zoned), refuseAsk(head, kind));
  },
};

const NODE_HEADER = /^timestamp,(open,high,low,close(,volume)?|askprice,bidprice(,askvolume,bidvolume)?)$/;
const NODE_TIME = /^\d{12,13}$|^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * CSV of the dukascopy-node package: `timestamp,open,high,low,close,volume` or
 * `timestamp,askPrice,bidPrice,askVolume,bidVolume`, Unix milliseconds or, on request, UTC in text. Other tools write
 * the same header: volumes that can be numbers of quotes are not Dukascopy's, which are amounts.
 */
export const dukascopyNode: Format = {
  id: "dukascopy-node",
  title: "Dukascopy, dukascopy-node CSV",
  recognise(head) {
    const header = head.lines[0] ?? "";
    const separator = separatorOf(header);
    const names = header.split(separator).map(plainName);
    const rows = head.lines.slice(1).map((line) => line.split(separator));
    const first = rows[0]?.[0] ?? "";
    if (!NODE_HEADER.test(names.join(",")) || !NODE_TIME.test(first)) return null;
    const kind = names.includes("bidprice") ? "ticks" : "klines";
    if (kind === "klines" && areCounts(rows.map((row) => row[names.indexOf("volume")] ?? ""))) return null;
    const own: Record<string, Role | null> = {
      timestamp: /^-?\d+$/.test(first) ? "epoch" : "dateTime",
      ...(kind === "klines" && { volume: "realVolume" as const }),
    };
    const layout: Layout = {
      kind,
      separator,
      headerLines: 1,
      roles: rolesOf(names, own),
      dateStyle: "ymd",
      zoned: first.endsWith("Z"),
      carriesPrices: false,
    };
    return delimited(layout, UTC_CLOCK, refuseAsk(head, kind));
  },
};
