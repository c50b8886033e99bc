import type { DataYear } from "#lib/contract/portal-data";
import { CoverageLegend, CoverageStrip } from "../../coverage/coverage-strip";
import { countText } from "../../portal/numbers";
import { Instant } from "../../portal/time";
import { Section } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";
import { isWholeYear, missingText } from "./covered";

/** What a year misses, and of one that is stored in part, within which stretch. */
function Missing({ year }: { year: DataYear }) {
  if (isWholeYear(year)) return missingText(year);
  return (
    <>
      {missingText(year)} from <Instant at={year.from} /> to <Instant at={year.to} />
    </>
  );
}

function Year({ year }: { year: DataYear }) {
  return (
    <li className="grid grid-cols-[3rem_1fr] items-center gap-x-3 gap-y-1 sm:grid-cols-[3rem_1fr_7rem_12rem]">
      <span className="font-mono text-sm tabular-nums">{year.year}</span>
      <CoverageStrip {...year} />
      <span className="text-right font-mono text-[13px] tabular-nums max-sm:col-start-2 max-sm:text-left">
        {countText(year.rows)}
        <span className="max-sm:hidden sr-only"> klines</span>
        <span className="font-sans text-ink-faint text-xs sm:hidden">
          {" "}
          klines, <Missing year={year} />
        </span>
      </span>
      <span className="text-balance text-right text-ink-soft text-xs leading-5 max-sm:hidden">
        <Missing year={year} />
      </span>
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
        {complete ? null : "Earlier years are being read… "}A strip is a year of UTC, from January to December. A minute in which
        the market was open but no quote came has no kline: a few missing minutes are normal where trading is thin, and a day
        shows a gap from 2% on.
      </p>
    </Section>
  );
}
