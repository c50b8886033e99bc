import { z } from "zod";
import { MINUTE_S } from "#lib/units";
import { UnixSeconds } from "./primitives";

/** What operators send and read when they correct single minutes of the live venue. */

/** Most minutes that one correction strikes out. */
export const STRIKE_MAX_MINUTES = 60;
/** A minute can be corrected this long after its end: by then the service has stored what it heard of it. */
export const CORRECTION_SETTLE_S = 60;
/** Minutes returned before and after the requested one. */
export const MINUTES_AROUND_COUNT = 5;
export const CORRECTION_REASON_MAX_CHARACTERS = 200;

const Minute = UnixSeconds.refine((time) => time % MINUTE_S === 0, "must be the start of a minute.");
const Price = z.number().positive();
const COMMON = { time: Minute, reason: z.string().trim().min(1, "Enter a reason.").max(CORRECTION_REASON_MAX_CHARACTERS) };

/** Replaces the kline of a minute, or strikes out the klines of one or more minutes. */
export const CorrectionForm = z.discriminatedUnion("action", [
  z.strictObject({
    action: z.literal("replace"),
    ...COMMON,
    open: Price,
    high: Price,
    low: Price,
    close: Price,
    tick_volume: z.number().min(0),
    spread: z.number().min(0).nullable(),
  }),
  z.strictObject({ action: z.literal("strike"), ...COMMON, minutes: z.int().min(1).max(STRIKE_MAX_MINUTES) }),
]);
export type CorrectionForm = z.infer<typeof CorrectionForm>;

/** Asks for the minutes around an instant, Unix seconds. */
export const DataMinutesQuery = z.strictObject({
  at: z
    .string()
    .regex(/^\d{1,10}$/, "must be Unix seconds.")
    .transform(Number),
});

/** A minute as it is stored. */
export interface DataMinute {
  /** Open time, Unix seconds. */
  readonly time: number;
  /** Null where no kline is stored. */
  readonly kline: {
    readonly open: number;
    readonly high: number;
    readonly low: number;
    readonly close: number;
    readonly tick_volume: number;
    readonly spread: number | null;
  } | null;
  /** Number of the import that wrote it or struck it out; null for feeds, and where nothing is stored. */
  readonly import: number | null;
  readonly struck: boolean;
}

/** Minutes around an instant, ascending. */
export interface DataMinutes {
  readonly items: readonly DataMinute[];
}

/** The correction that was made. */
export interface CorrectionMade {
  /** Number of its import, by which it can be undone. */
  readonly number: number;
  readonly minutes: number;
}
