import { delimited, type Format, type Head, HISTDATA_CLOCK, headless, METATRADER_CLOCK } from "./format";

const any = (head: Head, pattern: RegExp) => head.lines.slice(0, 3).some((line) => pattern.test(line));
const KLINE_ROLES = ["dateTime", "open", "high", "low", "close", "tickVolume"] as const;

/** The formats of HistData. Its files have no header line, and their times are EST. */
export const histdata: readonly Format[] = [
  {
    // 20200131 170000;o;h;l;c;v
    id: "histdata-ascii-m1",
    title: "HistData M1, generic ASCII",
    recognise: (head) =>
      any(head, /^\d{8} \d{6};[^;]+;[^;]+;[^;]+;[^;]+;/) && !head.fileName.startsWith("dat_nt")
        ? delimited(headless("klines", ";", KLINE_ROLES, "compact"), HISTDATA_CLOCK)
        : null,
  },
  {
    // 20200131 170000,o,h,l,c,v or with semicolons
    id: "histdata-nt-m1",
    title: "HistData M1, NinjaTrader",
    recognise(head) {
      const separator = any(head, /^\d{8} \d{6},[^,]+,[^,]+,[^,]+,[^,]+/) ? "," : ";";
      if (separator === ";" && !any(head, /^\d{8} \d{6};[^;]+;[^;]+;[^;]+;[^;]+/)) return null;
      return delimited(headless("klines", separator, KLINE_ROLES, "compact"), HISTDATA_CLOCK);
    },
  },
  {
    // EURUSD,202001311700,o,h,l,c,v
    id: "histdata-ms-m1",
    title: "HistData M1, MetaStock",
    recognise(head) {
      if (!any(head, /^[A-Z0-9]{3,20},\d{12},[\d.]+,[\d.]+,[\d.]+,[\d.]+(,|$)/)) return null;
      const layout = headless("klines", ",", ["symbol", ...KLINE_ROLES], "compact");
      return delimited({ ...layout, dateOrder: "ymd" }, HISTDATA_CLOCK);
    },
  },
  {
    // 20200131 170000123,bid,ask,volume: the volume is always 0 and carries no information.
    id: "histdata-ticks",
    title: "HistData ticks, ASCII",
    recognise: (head) =>
      any(head, /^\d{8} \d{9},[\d.]+,[\d.]+(,|$)/)
        ? delimited(headless("ticks", ",", ["dateTime", "bid", "ask", null], "compact"), HISTDATA_CLOCK)
        : null,
  },
  {
    // 20200131 170003;price;volume in files named T_LAST, T_BID and T_ASK: each has one side of the quotes only.
    id: "histdata-nt-ticks",
    title: "HistData ticks, NinjaTrader",
    recognise(head) {
      if (!any(head, /^\d{8} \d{6};[\d.]+;\d+$/)) return null;
      const refusal = "one price a tick: a quote needs bid and ask, import HistData's ASCII ticks";
      return delimited(headless("ticks", ";", ["dateTime", "bid"], "compact"), HISTDATA_CLOCK, refusal);
    },
  },
  {
    // 2020.01.31,17:00,o,h,l,c,v: also MetaTrader 4's own export. The file name shows which one it is, and so which clock is likely.
    id: "mt4-csv",
    title: "HistData M1, MetaTrader, or a MetaTrader 4 export",
    recognise(head) {
      if (!any(head, /^\d{4}\.\d\d\.\d\d,\d\d:\d\d,[^,]+,[^,]+,[^,]+,[^,]+/)) return null;
      // With a header line it is a plain file, whose columns may be others.
      if (/open/i.test(head.lines[0] ?? "")) return null;
      const layout = headless("klines", ",", ["date", "timeOfDay", "open", "high", "low", "close", "tickVolume"], "ymd");
      return delimited(layout, head.fileName.startsWith("dat_mt") ? HISTDATA_CLOCK : METATRADER_CLOCK);
    },
  },
];
