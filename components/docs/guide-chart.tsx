import { isWellFormedKey } from "#lib/contract/key-text";
import type { LiveChartProps } from "../chart/live-chart";
import { SeenChart } from "./live-chart";

/** The live chart of a guide. @param demoKey any other text when the service has none */
export function guideChart(demoKey: string) {
  // biome-ignore lint/correctness/noComponentHookFactories: rendered once, on the server, and without state
  return function LiveChart({ ticker, digits, timeframe }: Pick<LiveChartProps, "ticker" | "digits" | "timeframe">) {
    if (isWellFormedKey(demoKey)) return <SeenChart ticker={ticker} digits={Number(digits)} timeframe={timeframe} />;
    return <p>The demo key is disabled on this installation, so no chart can be shown here.</p>;
  };
}
