import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { Unsure } from "#server/import/failure";
import type { DateStyle, DecimalMark } from "#server/import/rows/bytes";
import { cellTexts } from "#server/import/rows/delimited";
import {
  DATE_ORDERS,
  type DateOrder,
  isGermanName,
  type Layout,
  plainName,
  type Role,
  rolesOf,
  TIME_NAMES,
  volumeRoles,
} from "#server/import/rows/row";
import { delimited, type Format, type FormatClock, type Head, refuseAsk, separatorOf, UTC_CLOCK } from "./format";

/** Many tools write such files, on any clock: times without an offset are UTC only where the rows show it. */
const UNZONED_CLOCK: FormatClock = { detect: { likely: ["UTC"] } };

/** 12 digits that begin with a year and a month are no milliseconds, which would be of 1976. */
const EPOCH = /^(?!(19|20)\d\d[01]\d[0-3]\d[0-2]\d[0-5]\d$)\d{9,13}(\.\d+)?$|^\d{15,19}$/;
const TIME_OF_DAY = /^\d{1,2}:\d\d|^\d{3,6}$/;
const YEAR_FIRST = /^\d{4}[-./]/;
const COMPACT = /^\d{8}(\D|$)|^\d{12}$|^\d{14}$/;
const YEAR_LAST = /^(\d{1,2})[-./](\d{1,2})[-./](\d{4}|\d{2})(?!\d)/;
const SEPARATORS = ["\t", ";", ","];

/** The names of a header line. The last price of investing.com, beside open, high and low, is the close. */
function namesOf(header: readonly string[]): string[] {
  const names = header.map(plainName);
  const isClose = !names.includes("close") && ["open", "high", "low"].every((name) => names.includes(name));
  return isClose ? names.map((name) => (name === "price" ? "close" : name)) : names;
}

const TIME_ROLES: ReadonlySet<Role | null | undefined> = new Set<Role>(["date", "dateTime"]);

/** The timeframe that a column of it says. */
function timeframeOf(value = ""): Timeframe | undefined {
  return TIMEFRAMES.find((known) => known === value.toUpperCase());
}

/** The beginning of a plain file: the names of its columns, as plainName returns them, and its first rows. */
type Table = ReturnType<typeof tableOf>;

function tableOf({ lines, given }: Head) {
  const [first = ""] = lines;
  const named = given.columns?.map(plainName);
  const separator =
    SEPARATORS.find((one) => named !== undefined && cellTexts(first, one).length === named.length) ?? separatorOf(first);
  const [header = [], ...rows] = lines.map((line) => cellTexts(line, separator));
  if (named === undefined)
    return { separator, headerLines: 1 as const, names: namesOf(header), isGerman: header.some(isGermanName), rows };
  // A header line has no digits where the columns are named anyway.
  const hasHeader = !header.some((cell) => /^\d/.test(cell));
  return {
    separator,
    headerLines: hasHeader ? (1 as const) : (0 as const),
    names: named,
    isGerman: false,
    rows: hasHeader ? rows : [header, ...rows],
  };
}

/** The columns of the time: of several, the one that holds both day and time of day. */
function timeRoles({ names, rows: [row = []] }: Table): Record<string, Role | null> | null {
  const value = (name: string) => row[names.indexOf(name)] ?? "";
  const found = TIME_NAMES.filter((name) => names.includes(name));
  const others = Object.fromEntries(found.map((name) => [name, null]));
  const epoch = found.find((name) => EPOCH.test(value(name)) || name === "timemsc" || name === "timems");
  if (epoch !== undefined) return { ...others, [epoch]: "epoch" };
  if (found.includes("date") && found.includes("time") && TIME_OF_DAY.test(value("time")) && !/[: T]/.test(value("date")))
    return { ...others, date: "date", time: "timeOfDay" };
  const dateTime = found.find((name) => value(name).includes(":")) ?? found[0];
  return dateTime === undefined ? null : { ...others, [dateTime]: "dateTime" };
}

function shownOrder(head: Head, { separator, headerLines, isGerman }: Table, column: number): DateOrder {
  let [firstIsDay, secondIsDay, shortYear] = [false, false, false];
  for (const line of head.everyLine().slice(headerLines)) {
    const [, first, second, year] = YEAR_LAST.exec(cellTexts(line, separator)[column] ?? "") ?? [];
    firstIsDay ||= Number(first) > 12;
    secondIsDay ||= Number(second) > 12;
    shortYear ||= year?.length === 2;
  }
  const options = "--date-format DMY or --date-format MDY";
  if (isGerman && !secondIsDay) return "dmy";
  if (shortYear) throw new Unsure(`its dates have years of two digits: set their order, ${options}`);
  if (firstIsDay === secondIsDay)
    throw new Unsure(`no row shows which part of its dates is the day and which the month: set their order, ${options}`);
  return firstIsDay ? "dmy" : "mdy";
}

/** The form of the dates. @throws Unsure when day and month cannot be told apart */
function datesOf(head: Head, table: Table, roles: readonly (Role | null)[]): { dateStyle: DateStyle; dateOrder: DateOrder } {
  const column = roles.findIndex((role) => role === "date" || role === "dateTime");
  const value = table.rows[0]?.[column] ?? "";
  if (column < 0 || COMPACT.test(value)) return { dateStyle: "compact", dateOrder: "ymd" };
  const given = head.given.dateOrder;
  if (given !== null) return { dateStyle: given, dateOrder: given };
  const order = YEAR_FIRST.test(value) || !YEAR_LAST.test(value) ? DATE_ORDERS[0] : shownOrder(head, table, column);
  return { dateStyle: order, dateOrder: order };
}

/** The decimal mark that prices show: the last of point and comma in those with both, else the only one there is. */
function decimalMarkOf({ rows }: Table, roles: readonly (Role | null)[]): DecimalMark | undefined {
  const prices = rows.flatMap((row) => row.filter((_, column) => /^(bid|ask|open|high|low|close)$/.test(roles[column] ?? "")));
  const last = (texts: readonly string[]) =>
    texts.map((text) => /[.,](?=[^.,]*$)/.exec(text)?.[0]).filter((mark) => mark !== undefined);
  const conclusive = last(prices.filter((text) => text.includes(".") && text.includes(",")));
  const marks = conclusive.length > 0 ? conclusive : last(prices);
  if (marks.length === 0) return undefined;
  return marks.includes(".") ? "." : ",";
}

/**
 * Spotwire's plain CSV, with a header line that names the columns in any order:
 * ticks `time_msc|time,bid,ask[,volume]`, klines `time,open,high,low,close[,tick_volume,real_volume,spread]` (bid prices) or
 * quote klines `time,bid_open,bid_high,bid_low,bid_close,ask_open,…`. A time is ISO 8601 (UTC unless it has an offset), a date
 * in another order, or a Unix time; spreads are in points when all of them are whole numbers, else in price units. Columns may
 * be separated by commas, semicolons or tabs; `--columns` names those of a file without a header line.
 */
export const plainCsv: Format = {
  id: "plain",
  title: "plain CSV",
  recognise(head) {
    const table = tableOf(head);
    const { names, rows, separator, headerLines } = table;
    const time = timeRoles(table);
    if (time === null) return null;
    const kind = names.includes("bid") && names.includes("ask") ? "ticks" : "klines";
    const isQuotes = names.includes("bidopen");
    const roles = rolesOf(names, {
      ...time,
      ...(kind === "klines" && volumeRoles(names, rows)),
      ...(isQuotes && { bidvolume: "realVolume" as const }),
    });
    const needed: Role[] = kind === "ticks" ? ["bid", "ask"] : ["open", "high", "low", "close"];
    if (!needed.every((role) => roles.includes(role))) return null;
    const value = rows[0]?.[roles.indexOf("dateTime")] ?? "";
    const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(value) && value.length > 10;
    const layout: Layout = {
      kind,
      separator,
      headerLines,
      roles,
      zoned,
      ...datesOf(head, table, roles),
      decimalMark: decimalMarkOf(table, roles),
    };
    const refusal = isQuotes ? null : refuseAsk(head, kind);
    const isUtc =
      roles.includes("epoch") || zoned || names.some((name, column) => /utc/.test(name) && TIME_ROLES.has(roles[column]));
    const timeframe = timeframeOf(rows[0]?.[roles.indexOf("timeframe")]);
    return { ...delimited(layout, isUtc ? UTC_CLOCK : UNZONED_CLOCK, refusal), ...(timeframe && { timeframe }) };
  },
};
