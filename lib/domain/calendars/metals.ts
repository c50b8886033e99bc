import type { WeeklyCalendar } from "#lib/domain/calendar";
import { datedExceptions } from "./dated-exceptions";
import { METALS_EXCEPTIONS } from "./metals-exceptions";

/**
 * Precious metals as COMEX trades gold on Globex: from Sunday 18:00 to Friday 17:00 New York time, with a break from
 * 17:00 to 18:00 on the days between. (Until September 2015 the break began at 17:15.)
 */
export const metals: WeeklyCalendar = {
  kind: "weekly",
  zone: "America/New_York",
  week: [
    { day: 0, open: "18:00", close: "24:00" },
    { day: 1, open: "00:00", close: "17:00" },
    { day: 1, open: "18:00", close: "24:00" },
    { day: 2, open: "00:00", close: "17:00" },
    { day: 2, open: "18:00", close: "24:00" },
    { day: 3, open: "00:00", close: "17:00" },
    { day: 3, open: "18:00", close: "24:00" },
    { day: 4, open: "00:00", close: "17:00" },
    { day: 4, open: "18:00", close: "24:00" },
    { day: 5, open: "00:00", close: "17:00" },
  ],
  ...datedExceptions(METALS_EXCEPTIONS),
  coveredUntil: "2028-12-31",
};
