import type { WeeklyCalendar } from "#lib/domain/calendar";
import { type DatedException, datedExceptions } from "./dated-exceptions";

/**
 * Currency pairs as Dukascopy keeps them, New York time. Up to New Year 2026: the holidays of EUR/USD in the instrument
 * list of Dukascopy (dukascopy-node, MIT); it has none for 2009 to 2011. What follows is by the rule they have kept
 * since 2013: closed on Christmas Day from 03:00 to 17:00 and from 17:00 on New Year's Eve to 17:00 on New Year's Day,
 * where these fall into the trading week.
 */
const EXCEPTIONS: readonly DatedException[] = [
  ["2008-12-25", "13:00", "17:00", "Christmas Day"],
  ["2008-12-31", "18:00", null, "New Year's Eve"],
  ["2009-01-01", "00:00", "13:00", "New Year's Day"],
  ["2012-12-25", "08:00", "13:00", "Christmas Day"],
  ["2012-12-31", "18:00", null, "New Year's Eve"],
  ["2013-01-01", "00:00", "17:00", "New Year's Day"],
  ["2013-12-25", "03:00", "17:00", "Christmas Day"],
  ["2013-12-31", "17:00", null, "New Year's Eve"],
  ["2014-01-01", "00:00", "17:00", "New Year's Day"],
  ["2014-12-25", "03:00", "17:00", "Christmas Day"],
  ["2014-12-31", "17:00", null, "New Year's Eve"],
  ["2015-01-01", "00:00", "17:00", "New Year's Day"],
  ["2015-12-25", "03:00", null, "Christmas Day, a Friday"],
  ["2015-12-31", "17:00", null, "New Year's Eve"],
  ["2016-01-01", "00:00", null, "New Year's Day, a Friday"],
  ["2017-12-25", "03:00", "17:00", "Christmas Day"],
  ["2017-12-31", "00:00", null, "New Year's Eve, a Sunday"],
  ["2018-01-01", "00:00", "17:00", "New Year's Day"],
  ["2018-12-25", "03:00", "17:00", "Christmas Day"],
  ["2018-12-31", "17:00", null, "New Year's Eve"],
  ["2019-01-01", "00:00", "17:00", "New Year's Day"],
  ["2019-12-25", "03:00", "17:00", "Christmas Day"],
  ["2019-12-31", "17:00", null, "New Year's Eve"],
  ["2020-01-01", "00:00", "17:00", "New Year's Day"],
  ["2020-12-25", "03:00", null, "Christmas Day, a Friday"],
  ["2020-12-31", "17:00", null, "New Year's Eve"],
  ["2021-01-01", "00:00", null, "New Year's Day, a Friday"],
  ["2023-12-24", "00:00", "18:00", "Christmas Eve, a Sunday that began an hour late"],
  ["2023-12-25", "03:00", "17:00", "Christmas Day"],
  ["2023-12-31", "00:00", null, "New Year's Eve, a Sunday"],
  ["2024-01-01", "00:00", "17:00", "New Year's Day"],
  ["2024-12-25", "03:00", "17:00", "Christmas Day"],
  ["2024-12-31", "17:00", null, "New Year's Eve"],
  ["2025-01-01", "00:00", "17:00", "New Year's Day"],
  ["2025-12-25", "03:00", "17:00", "Christmas Day"],
  ["2025-12-31", "17:00", null, "New Year's Eve"],
  ["2026-01-01", "00:00", "17:00", "New Year's Day"],
  // By the rule from here on. Christmas 2027 and New Year 2028 fall on Saturdays.
  ["2026-12-25", "03:00", null, "Christmas Day, a Friday"],
  ["2026-12-31", "17:00", null, "New Year's Eve"],
  ["2027-01-01", "00:00", null, "New Year's Day, a Friday"],
  ["2028-12-25", "03:00", "17:00", "Christmas Day"],
  ["2028-12-31", "00:00", null, "New Year's Eve, a Sunday"],
];

/** Forex: from Sunday 17:00 to Friday 17:00 New York time without a break. */
export const forex: WeeklyCalendar = {
  kind: "weekly",
  zone: "America/New_York",
  week: [
    { day: 0, open: "17:00", close: "24:00" },
    { day: 1, open: "00:00", close: "24:00" },
    { day: 2, open: "00:00", close: "24:00" },
    { day: 3, open: "00:00", close: "24:00" },
    { day: 4, open: "00:00", close: "24:00" },
    { day: 5, open: "00:00", close: "17:00" },
  ],
  ...datedExceptions(EXCEPTIONS),
  coveredUntil: "2028-12-31",
};
