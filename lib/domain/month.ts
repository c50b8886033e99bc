/** A UTC month as YYYY-MM. */
export type Month = string;

/** The month of an instant, Unix milliseconds. */
export const monthOf = (ms: number): Month => new Date(ms).toISOString().slice(0, 7);

/** Its first day, as PostgreSQL reads a date. */
export const firstDay = (month: Month): string => `${month}-01`;

/** When a month begins, Unix milliseconds. */
export const monthStartMs = (month: Month): number => Date.parse(firstDay(month));

/** The month that is so many after another one; before it for a negative number. */
export function monthAfter(month: Month, count = 1): Month {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return monthOf(Date.UTC(year, number - 1 + count));
}

/** When a month ends and the next one begins, Unix milliseconds. */
export const monthEndMs = (month: Month): number => monthStartMs(monthAfter(month));
