import type { Kline } from "#lib/contract/kline";
import { roundTo } from "#lib/domain/price";
import type { GoldenCase } from "./golden";

const shared = (file: string) => ({ shared: file });

/** Dukascopy fills closed hours with flat rows of volume 0, and holds volumes as 32-bit floats. */
function dukascopy(kline: Kline): Kline | undefined {
  if (kline.real_volume === 0) return undefined;
  return { ...kline, real_volume: kline.real_volume && roundTo(Math.fround(kline.real_volume), 2) };
}

/** This export counts whole millions of base units a minute in place of ticks. */
function volumeFloors(kline: Kline): Kline {
  return kline.real_volume === null ? kline : { ...kline, tick_volume: Math.floor(kline.real_volume) };
}

const OTHER_DOWNLOAD = "the H1 file is another download than the M1 file";

const OANDA: GoldenCase[] = [
  {
    from: shared("permissive/eurusd_ticks_oanda_20140504_20140509"),
    to: shared("permissive/eurusd_m1_quote_oanda_201405_201804"),
    alignment: "UTC",
    compared: 0,
  },
  {
    from: shared("permissive/xauusd_ticks_oanda_20140504_20140506"),
    to: shared("permissive/xauusd_m1_quote_oanda_20140501_20140515"),
    alignment: "UTC",
    compared: 0,
  },
  {
    from: shared("permissive/eurusd_m1_quote_oanda_201405_201804"),
    to: shared("permissive/eurusd_h1_quote_oanda_2012_2018"),
    alignment: "UTC",
    covered: [
      ["2014-05-01", "2014-05-16"],
      ["2018-04-03", "2018-04-05"],
    ],
    compared: 0,
    except: { why: OTHER_DOWNLOAD, differing: 243 },
  },
  {
    from: shared("permissive/xauusd_m1_quote_oanda_20140501_20140515"),
    to: shared("permissive/xauusd_h1_quote_oanda_2012_2019"),
    alignment: "UTC",
    compared: 0,
    except: { why: OTHER_DOWNLOAD, differing: 9, extra: 2 },
  },
  {
    from: shared("permissive/eurusd_h1_quote_oanda_2012_2018"),
    to: shared("permissive/eurusd_d1_quote_oanda_2012_2018"),
    alignment: "UTC",
    compared: 0,
  },
  {
    from: shared("permissive/xauusd_h1_quote_oanda_2012_2019"),
    to: shared("permissive/xauusd_d1_quote_oanda_2012_2019"),
    alignment: "UTC",
    compared: 0,
  },
];

const DUKASCOPY_2019: GoldenCase[] = (
  [
    ["eurusd_ticks_dukascopy_20190204_h00_h10_h23", "eurusd_m1_dukascopy_20190204", 0],
    ["eurusd_ticks_dukascopy_20190204_h00_h10_h23", "eurusd_h1_dukascopy_201902", 0],
    ["eurusd_m1_dukascopy_20190204", "eurusd_h1_dukascopy_201902", 0],
    ["eurusd_m1_dukascopy_20190204", "eurusd_d1_dukascopy_2019", 0],
    ["eurusd_h1_dukascopy_201902", "eurusd_d1_dukascopy_2019", 0],
  ] as const
).map(([from, to, compared]) => ({
  from: shared(`permissive/${from}`),
  to: shared(`permissive/${to}`),
  alignment: "UTC",
  read: dukascopy,
  ...(from.includes("ticks") && {
    covered: ["00:00/01:00", "10:00/11:00", "23:00/24:00"].map((hours) => {
      const [open, close] = hours.split("/");
      return [`2019-02-04T${open}Z`, `2019-02-04T${close}Z`] as const;
    }),
  }),
  compared,
}));

/** Rows: a lower file; columns: how many klines of each higher timeframe it covers. */
function pairs(
  template: string,
  alignment: GoldenCase["alignment"],
  table: Record<string, Record<string, number>>,
  read?: GoldenCase["read"],
): GoldenCase[] {
  const file = (timeframe: string) => shared(template.replace("*", timeframe));
  return Object.entries(table).flatMap(([lower, row]) =>
    Object.entries(row).map(([higher, compared]) => ({
      from: file(lower),
      to: file(higher),
      alignment,
      compared,
      ...(read && { read }),
    })),
  );
}

const EJTRADER: GoldenCase[] = [
  ...pairs("permissive/gbpusd_*_mt5_ejtrader_2015_2022", "EET", { h1: { h4: 0, d1: 0 }, h4: { d1: 0 } }),
  ...pairs("permissive/xauusd_*_mt5_ejtrader_2012_2022", "EET", { h1: { h4: 0, d1: 0 }, h4: { d1: 0 } }),
];

const DUKASCOPY_2025: GoldenCase[] = [
  ...(["m1", "m5", "m15", "m30", "h1", "h4", "d1"] as const).map(
    (timeframe): GoldenCase => ({
      from: shared("nolicence/eurusd_ticks_dukascopy_20251201_20251205"),
      to: shared(`nolicence/eurusd_${timeframe}_dukascopy_jessejay247_to_20251205`),
      alignment: "UTC",
      read: volumeFloors,
      compared: { m1: 0, m5: 0, m15: 0, m30: 0, h1: 0, h4: 0, d1: 0 }[timeframe],
    }),
  ),
  ...pairs("nolicence/eurusd_*_dukascopy_jessejay247_to_20251205", "UTC", {
    m1: { m5: 0, m15: 0, m30: 0, h1: 0, h4: 0, d1: 0 },
    m5: { m15: 0, m30: 0, h1: 0, h4: 0, d1: 0 },
    m15: { m30: 0, h1: 0, h4: 0, d1: 0 },
    m30: { h1: 0, h4: 0, d1: 0 },
    h1: { h4: 0, d1: 0 },
    h4: { d1: 0 },
  }),
];

const METATRADER: GoldenCase[] = [
  ...pairs("nolicence/eurusd_*_mt5_magiclovexxx_202405_202604", "EET", { m15: { h1: 0 } }),
  ...pairs("nolicence/xauusd_*_mt5_magiclovexxx_202404_202604", "EET", { m15: { h1: 0 } }),
  ...pairs("nolicence/xauusd_*", "EET", {
    m1_mt5_magiclovexxx_202603_202604: { m15_mt5_magiclovexxx_202404_202604: 0, h1_mt5_magiclovexxx_202404_202604: 0 },
  }),
  ...pairs("nolicence/eurusd_*", "EET", { m1_mt5_nikoaganev_202210_202212: { m5_mt5_nikoaganev_202202_202212: 0 } }),
  ...pairs("copyleft/eurusd_*_mt5_gomlfx_2015_2019", "EET", {
    h4: { d1: 0, w1: 0, mn1: 0 },
    d1: { w1: 0, mn1: 0 },
  }),
];

/** Every pair of shared files of which one can be built from the other. */
export const SHARED_CASES: readonly GoldenCase[] = [
  ...OANDA,
  ...DUKASCOPY_2019,
  ...EJTRADER,
  ...DUKASCOPY_2025,
  ...METATRADER,
];

/** Files that nothing beside them can be compared with. */
export const WITHOUT_COUNTERPART = [
  "copyleft/eurusd_ticks_histdata_20200101_nautilus",
  "copyleft/gbpusd_m1_quote_fxcm_201202",
] as const;

/** Cases on the rows that travel with the project. */
export const FIXTURE_CASES: readonly GoldenCase[] = [
  ...(["m1", "h1"] as const).map(
    (timeframe): GoldenCase => ({
      from: { fixture: "eurusd_ticks_dukascopy_20190204_h23.csv.gz" },
      to: { fixture: `eurusd_${timeframe}_dukascopy_20190204_h23.csv.gz` },
      alignment: "UTC",
      covered: [["2019-02-04T23:00Z", "2019-02-05T00:00Z"]],
      read: dukascopy,
      compared: { m1: 0, h1: 1 }[timeframe],
    }),
  ),
  ...(["h4", "d1"] as const).map(
    (timeframe): GoldenCase => ({
      from: { fixture: "xauusd_h1_mt5_ejtrader_202103.csv.gz" },
      to: { fixture: `xauusd_${timeframe}_mt5_ejtrader_202103.csv.gz` },
      alignment: "EET",
      compared: { h4: 0, d1: 0 }[timeframe],
    }),
  ),
];
