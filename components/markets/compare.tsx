"use client";

import { usePageQuery } from "./page-query";
import { useInstruments } from "./use-market-hits";

/** What the chart of a market is compared with. The page's URL has it, so that a link shows the same. */
export function useCompared(ticker: string) {
  const [asked, onCompare] = usePageQuery("compare");
  const { data = [] } = useInstruments();
  const others = data.flatMap((one) => (one.ticker === ticker ? [] : [one.ticker]));
  return { others, compared: others.find((one) => one === asked), onCompare };
}

interface CompareSelectProps {
  readonly others: readonly string[];
  readonly compared: string | undefined;
  readonly onCompare: (other: string | undefined) => void;
}

/** Chooses the instrument to compare with. */
export function CompareSelect({ others, compared, onCompare }: CompareSelectProps) {
  return (
    <select
      aria-label="Compare with"
      value={compared ?? ""}
      onChange={(event) => onCompare(event.target.value || undefined)}
      className="min-h-9 rounded-md border border-edge bg-surface py-1 pr-8 pl-3 text-sm pointer-coarse:min-h-11 pointer-coarse:text-base"
    >
      <option value="">Compare with</option>
      {others.map((other) => (
        <option key={other}>{other}</option>
      ))}
    </select>
  );
}
