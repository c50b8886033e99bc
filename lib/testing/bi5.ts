/** Small .bi5 files made of rows that Dukascopy gave out for 2019-02-04 (fixtures of theorycraft-trading/dukascopy_ex, Apache-2.0). */

/** Eight ticks of the hour from 00:00, 160 bytes unpacked. */
export const LZMA_TICKS = Buffer.from(
  "XQAAgAD//////////wAAYAxFqOjJDwLQ3ICiKGYZp6cCIdjKMjJ7W1l2v017sjxs0J+O1Wpp8bwtOvJgqyBVG8XxtEEhT/AUVrzgZw7V+ja6RDhxStfAo0lK0cqdY/X+jhTA",
  "base64",
);

/** The first three bid klines of the day and a filler without volume at 00:03, 96 bytes unpacked. */
export const LZMA_KLINES = Buffer.from(
  "XQAAgAD//////////wAAaP60Jl8fRcxYiWE0QBvYhiHUikX2uCvkpzNsA4AI08Xqp7+RoC+4iy726Uff+kyxujCpu8v/5DdgAA==",
  "base64",
);
