import type { Kline } from "#lib/domain/kline";
import type { GoldenCase } from "./golden";

const shared = (file: string) => ({ shared: file });

/** Dukascopy fills closed hours with flat rows of volume 0. */
function withoutFiller(kline: Kline): Kline | undefined {
  return kline.real_volume === 0 ? undefined : kline;
}

/** Dukascopy stores volumes as 32-bit floats: past 131,072 the hundredths are lost. */
function shortVolume(kline: Kline): Kline {
  return { ...kline, real_volume: kline.real_volume && Math.fround(kline.real_volume) };
}

const OTHER_DOWNLOAD = "the H1 file is another download than the M1 file";

const EURUSD_MINUTES = [
  ["2014-05-01", "2014-05-16"],
  ["2018-04-03", "2018-04-05"],
] as const;

const OANDA: GoldenCase[] = [
  {
    from: shared("permissive/eurusd_ticks_oanda_20140504_20140509"),
    to: shared("permissive/eurusd_m1_quote_oanda_201405_201804"),
    alignment: "UTC",
    columns: [],
    compared: 6967,
  },
  {
    from: shared("permissive/xauusd_ticks_oanda_20140504_20140506"),
    to: shared("permissive/xauusd_m1_quote_oanda_20140501_20140515"),
    alignment: "UTC",
    columns: [],
    compared: 2894,
  },
  {
    from: shared("permissive/eurusd_m1_quote_oanda_201405_201804"),
    to: shared("permissive/eurusd_h1_quote_oanda_2012_2018"),
    alignment: "UTC",
    columns: [],
    covered: EURUSD_MINUTES,
    compared: 312,
    except: { why: OTHER_DOWNLOAD, differing: 243 },
  },
  {
    from: shared("permissive/xauusd_m1_quote_oanda_20140501_20140515"),
    to: shared("permissive/xauusd_h1_quote_oanda_2012_2019"),
    alignment: "UTC",
    columns: [],
    compared: 260,
    except: { why: OTHER_DOWNLOAD, differing: 9, extra: 2 },
  },
  {
    from: shared("permissive/eurusd_h1_quote_oanda_2012_2018"),
    to: shared("permissive/eurusd_d1_quote_oanda_2012_2018"),
    alignment: "UTC",
    columns: [],
    compared: 2172,
  },
  {
    from: shared("permissive/xauusd_h1_quote_oanda_2012_2019"),
    to: shared("permissive/xauusd_d1_quote_oanda_2012_2019"),
    alignment: "UTC",
    columns: [],
    compared: 2177,
  },
  {
    from: shared("permissive/eurusd_m1_quote_oanda_201405_201804"),
    to: shared("permissive/eurusd_d1_quote_oanda_2012_2018"),
    alignment: "UTC",
    columns: [],
    covered: EURUSD_MINUTES,
    compared: 15,
    except: { why: OTHER_DOWNLOAD, differing: 11 },
  },
  {
    from: shared("permissive/xauusd_m1_quote_oanda_20140501_20140515"),
    to: shared("permissive/xauusd_d1_quote_oanda_2012_2019"),
    alignment: "UTC",
    columns: [],
    compared: 13,
    except: { why: OTHER_DOWNLOAD, differing: 2 },
  },
];

const DUKASCOPY_2019: GoldenCase[] = (
  [
    ["eurusd_ticks_dukascopy_20190204_h00_h10_h23", "eurusd_m1_dukascopy_20190204", 180],
    ["eurusd_ticks_dukascopy_20190204_h00_h10_h23", "eurusd_h1_dukascopy_201902", 3],
    ["eurusd_m1_dukascopy_20190204", "eurusd_h1_dukascopy_201902", 24],
    ["eurusd_m1_dukascopy_20190204", "eurusd_d1_dukascopy_2019", 1],
    ["eurusd_h1_dukascopy_201902", "eurusd_d1_dukascopy_2019", 24],
  ] as const
).map(([from, to, compared]) => ({
  from: shared(`permissive/${from}`),
  to: shared(`permissive/${to}`),
  alignment: "UTC",
  columns: ["real_volume"],
  read: withoutFiller,
  publish: shortVolume,
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
  columns: GoldenCase["columns"],
  table: Record<string, Record<string, number>>,
): GoldenCase[] {
  const file = (timeframe: string) => shared(template.replace("*", timeframe));
  return Object.entries(table).flatMap(([lower, row]) =>
    Object.entries(row).map(([higher, compared]) => ({
      from: file(lower),
      to: file(higher),
      alignment,
      columns,
      compared,
    })),
  );
}

const EJTRADER: GoldenCase[] = [
  ...pairs("permissive/gbpusd_*_mt5_ejtrader_2015_2022", "EET", ["tick_volume"], {
    h1: { h4: 11156, d1: 1860 },
    h4: { d1: 1860 },
  }),
  ...pairs("permissive/xauusd_*_mt5_ejtrader_2012_2022", "EET", ["tick_volume"], {
    h1: { h4: 14316, d1: 2398 },
    h4: { d1: 2399 },
  }),
];

const DUKASCOPY_2025: GoldenCase[] = [
  ...(["m1", "m5", "m15", "m30", "h1", "h4", "d1"] as const).map(
    (timeframe): GoldenCase => ({
      from: shared("nolicence/eurusd_ticks_dukascopy_20251201_20251205"),
      to: shared(`nolicence/eurusd_${timeframe}_dukascopy_jessejay247_to_20251205`),
      alignment: "UTC",
      // No tick_volume: this export has the volume of a minute instead.
      columns: [],
      compared: { m1: 6870, m5: 1380, m15: 460, m30: 230, h1: 115, h4: 29, d1: 4 }[timeframe],
      ...(timeframe === "h4" && { except: { why: "the export ends inside its last H4 row", differing: 1 } }),
    }),
  ),
  ...pairs("nolicence/eurusd_*_dukascopy_jessejay247_to_20251205", "UTC", ["tick_volume"], {
    m1: { m5: 2015, m15: 671, m30: 335, h1: 167, h4: 42, d1: 7 },
    m5: { m15: 3333, m30: 1666, h1: 833, h4: 213, d1: 39 },
    m15: { m30: 5000, h1: 2500, h4: 644, d1: 123 },
    m30: { h1: 5000, h4: 1290, d1: 248 },
    h1: { h4: 1498, d1: 289 },
    h4: { d1: 915 },
  }),
];

const ALL = ["tick_volume", "real_volume", "spread"] as const;

const METATRADER: GoldenCase[] = [
  ...pairs("nolicence/eurusd_*_mt5_magiclovexxx_202405_202604", "EET", ALL, { m15: { h1: 11999 } }),
  ...pairs("nolicence/xauusd_*_mt5_magiclovexxx_202404_202604", "EET", ALL, { m15: { h1: 11999 } }),
  ...pairs("nolicence/xauusd_*", "EET", ALL, {
    m1_mt5_magiclovexxx_202603_202604: { m15_mt5_magiclovexxx_202404_202604: 2668, h1_mt5_magiclovexxx_202404_202604: 666 },
  }),
  ...pairs("nolicence/eurusd_*", "EET", ALL, { m1_mt5_nikoaganev_202210_202212: { m5_mt5_nikoaganev_202202_202212: 12006 } }),
  ...pairs("copyleft/eurusd_*_mt5_gomlfx_2015_2019", "EET", ALL, {
    h4: { d1: 1293, w1: 260, mn1: 58 },
    d1: { w1: 260, mn1: 58 },
  }),
];

/** Every pair of shared files of which one can be built from the other. */
export const SHARED_CASES: readonly GoldenCase[] = [...OANDA, ...DUKASCOPY_2019, ...EJTRADER, ...DUKASCOPY_2025, ...METATRADER];

/** Files without another file to compare with. */
export const WITHOUT_COUNTERPART = [
  "copyleft/eurusd_ticks_histdata_20200101_nautilus",
  "copyleft/gbpusd_m1_quote_fxcm_201202",
] as const;

/** Cases for the rows that are part of the project. */
export const FIXTURE_CASES: readonly GoldenCase[] = [
  ...(["m1", "h1"] as const).map(
    (timeframe): GoldenCase => ({
      from: { fixture: "eurusd_ticks_dukascopy_20190204_h23.csv.gz" },
      to: { fixture: `eurusd_${timeframe}_dukascopy_20190204_h23.csv.gz` },
      alignment: "UTC",
      columns: ["real_volume"],
      covered: [["2019-02-04T23:00Z", "2019-02-05T00:00Z"]],
      read: withoutFiller,
      publish: shortVolume,
      compared: { m1: 60, h1: 1 }[timeframe],
    }),
  ),
  ...(["h4", "d1"] as const).map(
    (timeframe): GoldenCase => ({
      from: { fixture: "xauusd_h1_mt5_ejtrader_202103.csv.gz" },
      to: { fixture: `xauusd_${timeframe}_mt5_ejtrader_202103.csv.gz` },
      alignment: "EET",
      columns: ["tick_volume"],
      compared: { h4: 113, d1: 18 }[timeframe],
    }),
  ),
];
