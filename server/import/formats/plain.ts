import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { isCurrency } from "#lib/domain/price-ranges";
import { ImportFailure, Unsure } from "#server/import/failure";
import { type DateStyle, type DecimalMark, epochUnitOf, hasOffset } from "#server/import/rows/bytes";
import { cellTexts } from "#server/import/rows/delimited";
import {
  DATE_ORDERS,
  type DateOrder,
  isColumnName,
  isGermanName,
  type Layout,
  plainName,
  type Role,
  type RowKind,
  rolesOf,
  TIME_NAMES,
} from "#server/import/rows/row";
import { delimited, type Format, type FormatClock, type Head, refuseAsk, separatorOf, UTC_CLOCK } from "./format";

/** Many tools write such files, on any clock: times without an offset are UTC only where the rows show it. */
const UNZONED_CLOCK: FormatClock = { detect: { likely: ["UTC"] } };

/**
 * 12 digits that begin with a year and a month are no milliseconds, which would be of 1976. Seconds of 1971 and 1972 have 8 digits
 * and microseconds 14, as dates do, which begin with 1 or 2.
 */
const EPOCH = /^(?!(19|20)\d\d[01]\d[0-3]\d[0-2]\d[0-5]\d$)(?:\d{9,13}|[3-9]\d{7})(\.\d+)?$|^\d{15,19}$|^[3-9]\d{13}$/;
/** Ticks of .NET since the year 1, and of Windows since 1601: as nanoseconds, they would be of 1990 and 1974. */
const OTHER_EPOCH = /^(?:6[2-4]|1[23])\d{16}$/;
const TIME_OF_DAY = /^\d{1,2}:\d\d|^\d{3,6}$/;
/** A time of day in a column whose name does not say so: 09:30, 9:30 PM, 0930 with a zero in front in some row. */
const WRITTEN_TIME_OF_DAY = /^([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?( ?[ap]m)?$/i;
const COMPACT_TIME_OF_DAY = /^([01]\d|2[0-3])[0-5]\d([0-5]\d)?$/;
const YEAR_FIRST = /^\d{4}[-./]/;
const COMPACT = /^\d{8}(\D|$)|^\d{12}$|^\d{14}$/;
const YEAR_LAST = /^(\d{1,2})[-./](\d{1,2})[-./](\d{4}|\d{2})(?!\d)/;
const SEPARATORS = ["\t", ";", ","];
/** Lines before the rows: a separator for spreadsheets, and comments. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i;
const COMMENT = /^\s*(#|\/\/)/;
/** A value of a row: a number, or a time. Names have letters. */
const VALUE = /^[-+]?(?=.*\d)[\d.,:/+\- TZ]+$/;
/** Columns of klines. */
const PRICES = ["open", "high", "low", "close"] as const satisfies readonly Role[];
/** What tools name an index without a name. */
const INDEX_NAMES: readonly string[] = ["", "unnamed:0", "index"];
/** Rows that are examined. */
const ROWS_MAX_COUNT = 2_000;

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

/** The beginning of a plain file: the names of its columns, as plainName returns them, and rows spread over it. */
type Table = ReturnType<typeof tableOf>;

/** What a line above the names says of a column: which side its prices are of. */
const SIDES: readonly string[] = ["bid", "ask", "mid"];

/** The lines of a header as one: that with the most known names, and where it has none, as for the index of pandas, those of others. */
function mergedHeader(lines: readonly (readonly string[])[]): readonly string[] {
  const isKnown = (name: string) => isColumnName(plainName(name));
  const known = (cells: readonly string[]) => new Set(cells.map(plainName).filter(isColumnName)).size;
  const own = lines.reduce((best, cells) => (known(cells) > known(best) ? cells : best), lines[0] ?? []);
  return own.map((name, column) => {
    const others = lines.filter((cells) => cells !== own).map((cells) => cells[column] ?? "");
    const side = others.map(plainName).find((one) => SIDES.includes(one));
    if (isKnown(name)) return side === undefined ? name : `${side}_${name}`;
    return others.find((one) => TIME_NAMES.includes(plainName(one))) ?? others.find(isKnown) ?? name;
  });
}

/** The separator: as a line or the number of named columns says, else that of the line that has most known names. */
function separatorIn(head: Head, lines: readonly string[]): string {
  const said = lines.map((line) => SEPARATOR_LINE.exec(line)?.[1]).find((one) => one !== undefined);
  if (said !== undefined) return said;
  const { columns } = head.given;
  const named = SEPARATORS.find((one) => lines.some((line) => cellTexts(line, one).length === columns?.length));
  if (named !== undefined) return named;
  const known = (line: string) => cellTexts(line, separatorOf(line)).filter((name) => isColumnName(plainName(name))).length;
  const [first = ""] = lines;
  return separatorOf(lines.reduce((best, line) => (known(line) > known(best) ? line : best), first));
}

function tableOf(head: Head) {
  const separator = separatorIn(head, head.lines);
  const all = head.everyLine();
  const isRow = (line: string) => !COMMENT.test(line) && cellTexts(line, separator).filter((cell) => VALUE.test(cell)).length > 1;
  const begin = all.findIndex(isRow);
  // A header line alone, or rows that none of this can read.
  const headerLines = begin < 0 ? 1 : begin;
  const before = all.slice(0, headerLines).filter((line) => !SEPARATOR_LINE.test(line) && !COMMENT.test(line));
  const headers = before.map((line) => cellTexts(line, separator)).filter((cells) => cells.length > 1);
  const header = mergedHeader(headers);
  // The last line of a head may be cut off.
  const rest = all.length > ROWS_MAX_COUNT ? all.slice(headerLines, -1) : all.slice(headerLines);
  const step = Math.max(1, Math.ceil(rest.length / ROWS_MAX_COUNT));
  const rows = rest.filter((_, index) => index % step === 0).map((line) => cellTexts(line, separator));
  const named = head.given.columns;
  return {
    separator,
    headerLines,
    titles: named ?? header,
    names: named === null ? withIndex(namesOf(header), rows) : named.map(plainName),
    isGerman: named === null && header.some(isGermanName),
    lines: rest,
    rows,
    symbol: symbolIn(headers),
  };
}

/** The names, of which that of an index is the time where no other column is, and it has times. */
function withIndex(names: readonly string[], [row = []]: readonly (readonly string[])[]): readonly string[] {
  const [first = "", ...others] = names;
  const isTime =
    INDEX_NAMES.includes(first) && !names.some((name) => TIME_NAMES.includes(name)) && /\d[-/.:]\d/.test(row[0] ?? "");
  return isTime ? ["time", ...others] : names;
}

/** The instrument in a line of them beside the header: `Ticker,EURUSD=X,EURUSD=X`. */
function symbolIn(headers: readonly (readonly string[])[]): string | null {
  const [, ...cells] =
    headers.find(([first = "", second = ""]) => plainName(first) === "ticker" && !isColumnName(plainName(second))) ?? [];
  return cells[0] !== undefined && cells.every((cell) => cell === cells[0]) ? cells[0] : null;
}

/** The columns of the time: of several, the one that holds both day and time of day. */
function timeRoles({ names, rows }: Table): Record<string, Role | null> | null {
  const values = (name: string) => rows.map((row) => row[names.indexOf(name)] ?? "").filter((value) => value !== "");
  /** Most values decide, so that one odd row does not. */
  const are = (name: string, test: (value: string) => boolean) => values(name).filter(test).length * 2 > values(name).length;
  const found = TIME_NAMES.filter((name) => names.includes(name));
  const others = Object.fromEntries(found.map((name) => [name, null]));
  if (found.some((name) => are(name, (value) => OTHER_EPOCH.test(value))))
    throw new ImportFailure(
      "its times count from another year than 1970, as those of .NET and Windows do: write them as Unix milliseconds",
    );
  const epoch = found.find((name) => name === "timemsc" || name === "timems" || are(name, (value) => EPOCH.test(value)));
  if (epoch !== undefined) return { ...others, [epoch]: "epoch" };
  const day = found.find((name) => name === "date" && are(name, (value) => !/[: T]/.test(value)));
  const time = found.find((name) => name !== day && are(name, (value) => TIME_OF_DAY.test(value)));
  if (day !== undefined && time !== undefined) return { ...others, [day]: "date", [time]: "timeOfDay" };
  const dateTime = found.find((name) => are(name, (value) => value.includes(":"))) ?? found[0];
  return dateTime === undefined ? null : { ...others, [dateTime]: "dateTime" };
}

/**
 * Refuses a file whose rows have days, and times of day in a column that is not read: they would be days, each with the prices of
 * its last row.
 */
function refuseUnreadTimes({ rows, titles, names }: Table, roles: readonly (Role | null)[]): void {
  const column = roles.findIndex((role) => TIME_ROLES.has(role));
  const values = (at: number) => rows.map((row) => row[at] ?? "").filter((value) => value !== "");
  if (column < 0 || roles.includes("timeOfDay") || values(column).some((value) => value.includes(":"))) return;
  const areTimes = (at: number) => {
    const all = values(at);
    const compact = all.every((value) => COMPACT_TIME_OF_DAY.test(value)) && all.some((value) => value.startsWith("0"));
    return all.length > 0 && (compact || all.every((value) => WRITTEN_TIME_OF_DAY.test(value)));
  };
  const unread = roles.findIndex((role, at) => role === null && at < titles.length && areTimes(at));
  if (unread < 0) return;
  const columns = names.map((name, at) => {
    if (at === unread) return "time";
    return at === column ? "date" : roles[at] === null ? "-" : name;
  });
  throw new ImportFailure(
    `its column "${titles[unread]}" has times of day, and its name does not say so. Name the columns: --columns ${columns.join(",")}`,
  );
}

function shownOrder({ separator, lines, isGerman }: Table, column: number): DateOrder {
  let [firstIsDay, secondIsDay, shortYear] = [false, false, false];
  for (const line of lines) {
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
  const order = YEAR_FIRST.test(value) || !YEAR_LAST.test(value) ? DATE_ORDERS[0] : shownOrder(table, column);
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

/** Whether rows are ticks or klines: those with bid and ask beside open, high, low and close are klines with the quote at their close. */
function kindOf(names: readonly string[], given: RowKind | null): RowKind {
  const roles = rolesOf(names);
  const has = (...all: Role[]) => all.every((role) => roles.includes(role));
  return given ?? (has("bid", "ask") && !has(...PRICES) ? "ticks" : "klines");
}

/** Beside all four bid prices, open to close are those of another side, as of mid prices. */
function otherPrices(names: readonly string[]): Record<string, null> {
  const roles = rolesOf(names.filter((name) => !PRICES.some((price) => price === name)));
  const isBid = PRICES.every((price) => roles.includes(price));
  return isBid ? Object.fromEntries(PRICES.map((price) => [price, null])) : {};
}

/** A column of which all values are pairs of currencies is that of the instrument, whatever its name. */
function symbolRole({ names, rows }: Table): Record<string, Role> {
  const isPair = (value = "") => {
    const [, base = "", quote = ""] = /^(?:\w+:)?([A-Z]{3})[-_./ ]?([A-Z]{3})(?![A-Z]{2})/i.exec(value) ?? [];
    return isCurrency(base.toUpperCase()) && isCurrency(quote.toUpperCase());
  };
  const unread = names.find((name, column) => !isColumnName(name) && rows.length > 0 && rows.every((row) => isPair(row[column])));
  return unread === undefined || rolesOf(names).includes("symbol") ? {} : { [unread]: "symbol" };
}

/** Refuses a file that has the same price twice: of several instruments, or of two sides. @throws Unsure */
function refuseTwice(names: readonly string[], own: Readonly<Record<string, Role | null>>): void {
  const roles = names.map((name) => rolesOf([name], own)[0]);
  const prices: readonly Role[] = [...PRICES, "bid", "ask"];
  const twice = prices.find((price) => roles.indexOf(price) !== roles.lastIndexOf(price));
  if (twice === undefined) return;
  throw new Unsure(
    `it has several columns of ${twice} prices, of several instruments or sides: name those to read, - for one to skip, for example --columns time,open,high,low,close,-`,
  );
}

/** What the column "volume" of klines is where another one says it; else its values do. @param names as plainName returns them */
function volumeRoles(names: readonly string[]): Record<string, Role | null> {
  const [name] = ["volume", "vol"].filter((one) => names.includes(one));
  const has = (...others: string[]) => others.some((other) => names.includes(other));
  if (name === undefined) return {};
  if (has("tickvolume", "tickvol")) return { [name]: has("realvolume") ? null : "realVolume" };
  return { [name]: has("realvolume") ? "tickVolume" : "volume" };
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
    const isQuotes = names.includes("bidopen");
    const kind = kindOf(names, head.given.kind);
    const own = {
      ...time,
      ...(kind === "klines" && volumeRoles(names)),
      ...(isQuotes && { bidvolume: "realVolume" as const }),
      ...otherPrices(names),
      ...symbolRole(table),
    };
    const roles = rolesOf(names, own);
    if (head.given.columns === null) refuseTwice(names, own);
    const needed: readonly Role[] = kind === "ticks" ? ["bid", "ask"] : PRICES;
    if (!needed.every((role) => roles.includes(role))) return null;
    refuseUnreadTimes(table, roles);
    const timeColumn = roles.findIndex((role) => role === "dateTime" || role === "timeOfDay");
    const first = rows.find((row) => /\d/.test(row[timeColumn] ?? "")) ?? [];
    const zoned = hasOffset(first[timeColumn] ?? "");
    const layout: Layout = {
      kind,
      separator,
      headerLines,
      roles,
      zoned,
      epochUnit: epochUnitOf(rows.map((row) => row[roles.indexOf("epoch")])),
      ...datesOf(head, table, roles),
      decimalMark: decimalMarkOf(table, roles),
    };
    const refusal = isQuotes ? null : refuseAsk(head, kind);
    const isUtc =
      roles.includes("epoch") || zoned || names.some((name, column) => /utc|gmt/.test(name) && TIME_ROLES.has(roles[column]));
    const timeframe = timeframeOf(first[roles.indexOf("timeframe")]);
    const { symbol } = table;
    return {
      ...delimited(layout, isUtc ? UTC_CLOCK : UNZONED_CLOCK, refusal),
      ...(timeframe && { timeframe }),
      ...(symbol !== null && { symbol }),
    };
  },
};
