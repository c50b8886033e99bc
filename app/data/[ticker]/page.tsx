import type { Metadata } from "next";
import Link from "next/link";
import { notFound } from "next/navigation";
import { cache } from "react";
import { askedVenue, coverageFacts, marketReader } from "#app/markets/reader";
import type { PageSearch } from "#app/page-search";
import { CoverageSources } from "#components/coverage/coverage-sources";
import { Downloads } from "#components/coverage/downloads";
import { HistoryFigures } from "#components/coverage/history-figures";
import { MonthHeat } from "#components/coverage/month-heat";
import { YearGaps } from "#components/coverage/year-gaps";
import { VenueNotice } from "#components/markets/venue-notice";
import { VenueSwitch } from "#components/markets/venue-switch";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { PageHead, Section } from "#components/ui/card";
import { coveragePath } from "#lib/contract/coverage";
import { marketPath } from "#lib/contract/markets";
import { Year } from "#lib/contract/portal-data";
import { Ticker, type Venue } from "#lib/contract/primitives";
import { isFault } from "#lib/fault";
import { runningPortal } from "#server/pages/runtime";
import { shownTickerCoverage } from "#server/pages/shown-markets";

interface Props extends PageSearch {
  readonly params: Promise<{ readonly ticker: string }>;
}

/** Shows what is stored now: never prerendered. */
export const dynamic = "force-dynamic";

/** What the page shows, read once per request; undefined before the service is up, and 404 for an unknown ticker. */
const shownOf = cache(async (ticker: string, asked: Venue | undefined) => {
  const parts = runningPortal();
  if (parts === undefined) return undefined;
  if (!Ticker.safeParse(ticker).success) notFound();
  const shown = await shownTickerCoverage(parts, await marketReader(parts, asked), ticker);
  return { parts, shown, report: shown.report ?? notFound() };
});

export async function generateMetadata({ params, ...search }: Props): Promise<Metadata> {
  const { ticker } = await params;
  const row = (await shownOf(ticker, await askedVenue(search)))?.report.row;
  if (row === undefined) return { title: `Data of ${ticker}` };
  const title = `Data of ${ticker}: ${row.name}`;
  const description = `How far back the M1 klines of ${ticker} (${row.name}) go, by month, with every gap and its reason.`;
  return { title, description, alternates: { canonical: coveragePath("sandbox", ticker) } };
}

/** The year that the address asks for; the newest one without. A text that is no year of the history has no page. */
async function chosenYear(
  { searchParams }: PageSearch,
  years: readonly { readonly year: number }[],
): Promise<number | undefined> {
  const { year } = await searchParams;
  if (year === undefined) return years.at(-1)?.year;
  const asked = Year.safeParse(year);
  const found = asked.success ? years.find((one) => one.year === Number(asked.data)) : undefined;
  return found?.year ?? notFound();
}

/** The coverage of one instrument of the sandbox, or of the live venue for a reader who may see it. */
export default async function DataTickerPage({ params, ...search }: Props) {
  const { ticker } = await params;
  const read = await shownOf(ticker, await askedVenue(search));
  if (read === undefined)
    return (
      <PageMain>
        <Starting />
      </PageMain>
    );
  const { parts, shown, report } = read;
  const { venue } = shown;
  const { notice, mayChoose, credential } = coverageFacts(parts, shown);
  const year = await chosenYear(search, report.row.years);
  // Too many readers of years at once: the rest of the page is shown all the same.
  const coverage =
    year === undefined
      ? undefined
      : await parts.coverage.year(venue, ticker, year).catch((error: unknown) => {
          if (isFault(error)) return null;
          throw error;
        });
  return (
    <PageMain>
      <div className="mb-4 flex min-h-9 flex-wrap items-center justify-between gap-4">
        <nav aria-label="Breadcrumb" className="text-sm">
          <Link prefetch={false} href={coveragePath(venue)} className="text-ink-soft hover:text-ink">
            ← All instruments
          </Link>
        </nav>
        {mayChoose ? <VenueSwitch venue={venue} ticker={ticker} pathOf={coveragePath} /> : null}
      </div>
      <VenueNotice {...notice} pathOf={coveragePath} ticker={ticker} />
      <PageHead
        title={`Data of ${ticker}`}
        action={
          <Link prefetch={false} href={marketPath(venue, ticker)} className="text-accent text-sm leading-8 hover:underline">
            Prices and chart
          </Link>
        }
      >
        {report.row.name}. {venue === "live" ? "Stored M1 klines of the live venue." : "M1 klines of the sandbox."} Years, months
        and days are UTC.
      </PageHead>
      <HistoryFigures {...report} />
      {report.months.length === 0 ? null : (
        <Section title="Months" aside="Select a year for its gaps">
          <MonthHeat {...report} chosen={year} credential={credential} nowMs={parts.clock.now()} />
        </Section>
      )}
      {coverage === null ? (
        <p role="status" className="mt-10 rounded-md border border-line bg-sunken px-4 py-3 text-sm leading-6">
          Too many years are being read at once. Reload the page in a moment for the gaps of {year}.
        </p>
      ) : null}
      {coverage ? <YearGaps coverage={coverage} /> : null}
      <CoverageSources sources={report.sources} />
      <Downloads ticker={report.row.ticker} credential={credential} />
    </PageMain>
  );
}
