const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const CLOCK = { ...TIME, second: "2-digit" } as const;
const DAY_OF_YEAR = { day: "2-digit", month: "short" } as const;
const DAY = { ...DAY_OF_YEAR, year: "numeric" } as const;

/** The ways in which pages write dates and times. There are no others, so that a time looks the same wherever it is. */
const SHAPES = {
  /** 01 Jul 2026, 12:00 */
  minute: { ...DAY, ...TIME },
  /** 01 Jul, 12:00:07 */
  second: { ...DAY_OF_YEAR, ...CLOCK },
  /** 01 Jul 2026, 12:00:07 */
  exact: { ...DAY, ...CLOCK },
  /** 01 Jul 2026 */
  day: DAY,
  /** 12:00 */
  time: TIME,
  /** 12:00:07 */
  clock: CLOCK,
  /** 12:00:07.123 */
  millisecond: { ...CLOCK, fractionalSecondDigits: 3 },
  /** Wed 12:00 */
  weekdayTime: { weekday: "short", ...TIME },
  /** Wed */
  weekday: { weekday: "short" },
  /** 01 Jul */
  dayOfYear: DAY_OF_YEAR,
  /** 1 */
  dayOfMonth: { day: "numeric" },
  /** 1 July 2026 */
  longDay: { day: "numeric", month: "long", year: "numeric" },
  /** Jul */
  month: { month: "short" },
  /** Jul 2026 */
  monthOfYear: { month: "short", year: "numeric" },
  /** July 2026 */
  longMonth: { month: "long", year: "numeric" },
  /** 2026 */
  year: { year: "numeric" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** The name of a way to write a date or a time. */
export type TimeShape = keyof typeof SHAPES;

const kept = new Map<string, Intl.DateTimeFormat>();

/**
 * The format of a shape, made once. Each one holds some 80 KiB outside the JavaScript heap, where nothing tells the garbage
 * collector: a page that made one for each cell took gigabytes under load.
 */
function dateFormat(shape: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = JSON.stringify(shape);
  const known = kept.get(name);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", shape);
  kept.set(name, made);
  return made;
}

/**
 * An instant as text, for places that take no element, and a date as it is counted. Everywhere else `Instant` shows it.
 * @param at Unix milliseconds, or ISO 8601
 */
export const timeText = (at: number | string, shape: TimeShape, timeZone: string): string =>
  dateFormat({ ...SHAPES[shape], timeZone }).format(new Date(at));

/** What a zone is called on pages, the place in its name: New York of America/New_York. */
export const placeOf = (zone: string): string => zone.replace(/^(?!Etc\/).*\//, "").replaceAll("_", " ");
