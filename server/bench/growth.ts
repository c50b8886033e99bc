import { benchGrowthOfAccounts, benchGrowthOfKeys, benchGrowthOfKlines } from "./growth-stored";
import { benchGrowthOfSockets, benchGrowthOfSubscriptions, benchGrowthOfTickers } from "./growth-streamed";
import type { Effort } from "./load";
import type { Row } from "./table";

/** What one piece of work costs while there is more of everything around it. */
export async function benchGrowth(effort: Effort): Promise<Row[]> {
  const benches = [
    benchGrowthOfKeys,
    benchGrowthOfKlines,
    benchGrowthOfTickers,
    benchGrowthOfSockets,
    benchGrowthOfSubscriptions,
    benchGrowthOfAccounts,
  ];
  const rows: Row[] = [];
  for (const bench of benches) rows.push(...(await bench(effort)));
  return rows;
}
