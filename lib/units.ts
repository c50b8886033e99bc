/** Lengths of time and sizes, declared once; each name ends in its unit. */
export const SECOND_MS = 1_000;
export const MINUTE_S = 60;
export const MINUTE_MS = MINUTE_S * SECOND_MS;
export const HOUR_S = 60 * MINUTE_S;
export const HOUR_MS = HOUR_S * SECOND_MS;
export const DAY_S = 24 * HOUR_S;
export const DAY_MS = DAY_S * SECOND_MS;
export const MIB_BYTES = 1_048_576;
