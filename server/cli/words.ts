/** A count with separators of thousands: 1,234,567. */
export const countText = (count: number) => Math.round(count).toLocaleString("en-US");

/** A minute in UTC: 2026-01-05T22:00Z. @param ms Unix milliseconds */
export const minuteText = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`;

/** A second in UTC: 2026-01-05T22:00:07Z. @param ms Unix milliseconds */
export const secondText = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
