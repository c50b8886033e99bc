import { compare } from "./load";
import { measured, startSpotwire } from "./quotes";
import type { Row } from "./table";

const PATH = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";
/** More than in other benches, because the expected difference is small. */
const ROUNDS_COUNT = 7;
/** Counting and logging may cost 3 % of throughput. */
const TARGET = 0.97;

/** Measures quotes/latest with usage counted and logged against the same without. */
export async function benchUsage(seconds: number): Promise<Row[]> {
  const counted = await startSpotwire("counted");
  const uncounted = await startSpotwire("uncounted");
  const without = { server: uncounted, path: PATH, headers: { authorization: `Bearer ${uncounted.testKey}` } };
  const own = { server: counted, path: PATH, headers: { authorization: `Bearer ${counted.testKey}` } };
  try {
    // Measured before and after, so that a change of the machine's speed within a round favours neither.
    const { before, own: measurement, after } = await compare({ before: without, own, after: without }, ROUNDS_COUNT, seconds);
    if (!before || !measurement || !after) throw new Error("a contestant is missing");
    const value = (2 * measurement.requestsPerCpuSecond) / (before.requestsPerCpuSecond + after.requestsPerCpuSecond);
    return [
      measured("quotes/latest, usage not counted, measured before", before),
      measured("quotes/latest, usage not counted, measured after", after),
      {
        ...measured("quotes/latest, usage counted and logged", measurement),
        ratio: { value, target: TARGET, against: "without" },
      },
    ];
  } finally {
    await Promise.all([counted.stop(), uncounted.stop()]);
  }
}
