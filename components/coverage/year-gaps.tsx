import type { DataClosure, DataGap, DataLack, DataYearCoverage } from "#lib/contract/portal-data";
import { GAP_REASONS } from "#lib/data-words";
import { durationText } from "#lib/duration";
import { MINUTE_MS } from "#lib/units";
import { CLOSURE_REASONS } from "../markets/fortnight";
import { countText, shareText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Section } from "../ui/card";
import { type Column, Table } from "../ui/table";
import { CoverageLegend, CoverageStrip } from "./coverage-strip";

/** Gaps that are listed at first; most of the others are single minutes. */
const FIRST_COUNT = 12;

interface Stretch {
  readonly from: string;
  readonly to: string;
}

/** When it was; where there is room, its end is a column of its own. */
const FROM: Column<Stretch> = {
  head: "From",
  cell: ({ from, to }) => (
    <>
      <Instant at={from} />
      <span className="block whitespace-nowrap sm:hidden">
        <span className="text-ink-faint text-xs">to </span>
        <Instant at={to} />
      </span>
    </>
  ),
};
const TO: Column<Stretch> = { head: "To", from: "sm", cell: ({ to }) => <Instant at={to} /> };

const GAPS: readonly Column<DataGap>[] = [
  FROM,
  TO,
  { head: "Open time", numeric: true, cell: ({ open_minutes }) => durationText(open_minutes * MINUTE_MS) },
  { head: "Why", grow: true, cell: ({ reason }) => GAP_REASONS[reason] },
];
const CLOSURES: readonly Column<DataClosure>[] = [
  FROM,
  TO,
  { head: "Why", grow: true, cell: ({ reason }) => CLOSURE_REASONS[reason] ?? "Closed" },
];
const LACKS: readonly Column<DataLack>[] = [
  FROM,
  TO,
  { head: "Klines", numeric: true, cell: ({ rows }) => countText(rows) },
  { head: "Why", grow: true, cell: ({ reason }) => GAP_REASONS[reason] },
];

const GapTable = ({ caption, gaps }: { caption: string; gaps: readonly DataGap[] }) => (
  <Table
    caption={caption}
    columns={GAPS}
    rows={gaps}
    rowKey={({ from, reason }) => `${from} ${reason}`}
    empty="No gaps: every minute in which the market was open has a kline."
  />
);

/** What became of the minutes of the year, in one sentence. */
function Summary({ year, rows, minutes }: DataYearCoverage) {
  if (minutes === null)
    return <>{countText(rows)} klines are stored. No calendar says when the market was open, so gaps cannot be found.</>;
  const open = rows - minutes.in_closed_hours + minutes.gap;
  return (
    <>
      Of {countText(open)} minutes in which the market was open in {year}, {shareText(open - minutes.gap, open)} have a kline and{" "}
      {countText(minutes.gap)} have none. {countText(minutes.closed)} further minutes were closed by the calendar
      {minutes.in_closed_hours === 0 ? "" : `, and ${countText(minutes.in_closed_hours)} klines are in closed hours`}.
    </>
  );
}

/** The days of a year, its gaps with their reasons, and when the calendar was closed besides every week. */
export function YearGaps({ coverage }: { coverage: DataYearCoverage }) {
  const { year, gaps, gap_count, closures, lacking, minutes } = coverage;
  return (
    <>
      <div id="gaps" className="scroll-mt-20 pt-10">
        <Section title={`Gaps in ${year}`} aside={<CoverageLegend />}>
          <div className="rounded-lg border border-line bg-surface p-4">
            <CoverageStrip {...coverage} />
            <p className="mt-3 max-w-prose text-ink-soft text-sm leading-6">
              <Summary {...coverage} />
            </p>
          </div>
        </Section>
      </div>
      {minutes === null ? null : (
        <div className="mt-4">
          <GapTable caption={`Gaps in ${year}`} gaps={gaps.slice(0, FIRST_COUNT)} />
          {gaps.length > FIRST_COUNT ? (
            <details className="mt-2">
              <summary className="min-h-8 cursor-pointer py-1 text-accent text-sm">
                {countText(gaps.length - FIRST_COUNT)} shorter gaps
              </summary>
              <GapTable caption={`Shorter gaps in ${year}`} gaps={gaps.slice(FIRST_COUNT)} />
            </details>
          ) : null}
          <p className="mt-2 max-w-prose text-ink-faint text-xs leading-5">
            {gap_count > gaps.length ? `The ${gaps.length} longest of ${countText(gap_count)} gaps. ` : null}
            Closed hours inside a gap do not count. A minute without a quote has no kline, so short gaps are normal where trading
            is thin.
          </p>
        </div>
      )}
      {lacking.length === 0 ? null : (
        <Section title="Klines that lack ticks">
          <Table
            caption="Klines that lack ticks"
            columns={LACKS}
            rows={lacking}
            rowKey={({ from, reason }) => `${from} ${reason}`}
            empty=""
          />
        </Section>
      )}
      {closures.length === 0 ? null : (
        <Section title="Closed by the calendar" aside="Besides weekends and daily breaks">
          <Table caption="Closed by the calendar" columns={CLOSURES} rows={closures} rowKey={({ from }) => from} empty="" />
        </Section>
      )}
    </>
  );
}
