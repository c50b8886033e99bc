import type { ReactNode } from "react";

/** What stands below a chart: what it shows, and the attribution that its library asks for. */
export function ChartCaption({ children }: { children: ReactNode }) {
  return (
    <figcaption className="mt-2 flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-ink-faint text-xs leading-5">
      {children}
      <a href="https://www.tradingview.com/" target="_blank" rel="noopener" className="underline">
        Charts by TradingView
      </a>
    </figcaption>
  );
}
