/** Tickers in a running text, all of them. */
export function TickerList({ tickers }: { tickers: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-x-3 gap-y-1 font-mono text-ink-soft text-xs leading-5">
      {tickers.map((ticker) => (
        <li key={ticker}>{ticker}</li>
      ))}
    </ul>
  );
}
