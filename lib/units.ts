/** Lengths of time and sizes, declared once; each name ends in its unit. */
export const SECOND_MS = 1_000;
export const MINUTE_S = 60;
export const MINUTE_MS = MINUTE_S * SECOND_MS;
export const HOUR_S = 60 * MINUTE_S;
export const HOUR_MS = HOUR_S * SECOND_MS;
export const DAY_S = 24 * HOUR_S;
export const DAY_MS = DAY_S * SECOND_MS;
export const MIB_BYTES = 1_048_576;

/** The UTC date of an instant in Unix milliseconds, as ISO 8601: 2026-01-05. */
export const isoDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
