import type { DataYear } from "#lib/contract/portal-data";
import { CoverageLegend, CoverageStrip } from "../../coverage/coverage-strip";
import { countText, shareText } from "../../portal/numbers";
import { Section } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";

/** What a year misses, in words. */
function missingText({ rows, minutes }: DataYear): string {
  if (minutes === null) return "hours unknown";
  return minutes.gap === 0 ? "complete" : `${shareText(minutes.gap, rows - minutes.in_closed_hours + minutes.gap)} missing`;
}

function Year({ year }: { year: DataYear }) {
  return (
    <li className="grid grid-cols-[3rem_1fr] items-center gap-x-3 gap-y-1 sm:grid-cols-[3rem_1fr_7rem_8rem]">
      <span className="font-mono text-sm tabular-nums">{year.year}</span>
      <CoverageStrip {...year} />
      <span className="text-right font-mono text-[13px] tabular-nums max-sm:col-start-2 max-sm:text-left">
        {countText(year.rows)}
        <span className="sr-only"> klines</span>
        <span aria-hidden="true" className="font-sans text-ink-faint text-xs sm:hidden">
          {" "}
          klines, {missingText(year)}
        </span>
      </span>
      <span className="text-right text-ink-soft text-xs max-sm:sr-only">{missingText(year)}</span>
    </li>
  );
}

/** A strip for each year: what is stored, what is closed by the calendar, and what is missing. */
export function Coverage({ years, complete }: { years: readonly DataYear[] | undefined; complete: boolean }) {
  return (
    <Section title="Coverage" aside={<CoverageLegend />}>
      {years === undefined ? <Skeleton className="h-21.5 w-full sm:h-14.5" /> : null}
      {years === undefined || years.length === 0 ? null : (
        <ul className="space-y-2 rounded-lg border border-line bg-surface p-4">
          {years.map((year) => (
            <Year key={year.year} year={year} />
          ))}
        </ul>
      )}
      <p className="mt-2 text-ink-faint text-xs leading-5">
        {complete ? null : "Earlier years are being read… "}
        Days are UTC, from January to December. A minute in which the market was open but no quote came has no kline: a few
        missing minutes are normal where trading is thin, and a day shows a gap from 2% on.
      </p>
    </Section>
  );
}
