import type { Metadata } from "next";
import { cookies } from "next/headers";
import Link from "next/link";
import { notFound } from "next/navigation";
import { cache } from "react";
import { demoKeyOf } from "#app/demo-key";
import type { PageSearch } from "#app/page-search";
import { readerAddress } from "#app/reader-address";
import { CodeLanguages } from "#components/docs/code-languages";
import { MarketHours } from "#components/markets/market-hours";
import { MarketView } from "#components/markets/market-view";
import { SameByApi } from "#components/markets/same-by-api";
import { SpreadDay } from "#components/markets/spread-day";
import { VenueNotice } from "#components/markets/venue-notice";
import { VenueSwitch } from "#components/markets/venue-switch";
import { ZoneName } from "#components/portal/time";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { Section } from "#components/ui/card";
import { marketPath } from "#lib/contract/markets";
import { Ticker, type Venue } from "#lib/contract/primitives";
import { runningPortal } from "#server/pages/runtime";
import { shownMarket } from "#server/pages/shown-markets";
import { LANGUAGES_COOKIE, languagesOf } from "../../../components/docs/languages";
import { askedVenue, credentialFor, marketReader, venueFacts } from "../reader";

interface Props extends PageSearch {
  readonly params: Promise<{ readonly ticker: string }>;
}

/** Shows current prices: never prerendered. */
export const dynamic = "force-dynamic";

/** What the page shows, read once per request; undefined before the service is up, and 404 for an unknown ticker. */
const shownOf = cache(async (ticker: string, asked: Venue | undefined) => {
  const parts = runningPortal();
  if (parts === undefined) return undefined;
  if (!Ticker.safeParse(ticker).success) notFound();
  const shown = await shownMarket(parts, await marketReader(parts, asked), ticker);
  return { parts, shown, detail: shown.report ?? notFound() };
});

export async function generateMetadata({ params, ...search }: Props): Promise<Metadata> {
  const { ticker } = await params;
  const name = (await shownOf(ticker, await askedVenue(search)))?.detail.row.name;
  if (name === undefined) return { title: ticker };
  const title = `${ticker}: ${name}`;
  const description = `Live chart, bid, ask, spread and market hours of ${ticker} (${name}), and the same by API.`;
  return { title, description, alternates: { canonical: `/markets/${ticker}` }, openGraph: { title, description } };
}

/** One market of the sandbox, or of the live venue for a reader who may see it: chart, numbers, spread, hours, and the same by API. */
export default async function MarketPage({ params, ...search }: Props) {
  const { ticker } = await params;
  const asked = await askedVenue(search);
  const read = await shownOf(ticker, asked);
  if (read === undefined)
    return (
      <PageMain>
        <Starting />
      </PageMain>
    );
  const { parts, shown, detail } = read;
  const { venue } = shown;
  const { row, instrument, bars, hours, ranges, spreads, closures } = detail;
  const credential = credentialFor(parts, shown);
  const ownKey = credential?.kind === "live_page" ? credential.key : undefined;
  const languages = languagesOf((await cookies()).get(LANGUAGES_COOKIE)?.value);
  return (
    <PageMain>
      <div className="mb-4 flex min-h-9 flex-wrap items-center justify-between gap-4">
        <nav aria-label="Breadcrumb" className="text-sm">
          <Link prefetch={false} href={marketPath(asked)} className="text-ink-soft hover:text-ink">
            ← All markets
          </Link>
        </nav>
        {shown.liveKey === undefined ? null : <VenueSwitch venue={venue} ticker={ticker} pathOf={marketPath} />}
      </div>
      <VenueNotice {...venueFacts(parts, shown)} pathOf={marketPath} ticker={ticker} />
      <MarketView key={`${venue} ${ticker}`} detail={{ row, instrument, bars, hours, ranges }} credential={credential} />
      <div className="mt-10 grid items-start gap-x-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Section
          title="Market hours"
          aside={
            <>
              {venue === "live" ? "Live venue" : "Sandbox"}, times in <ZoneName />
            </>
          }
        >
          <MarketHours closures={closures} nowMs={parts.clock.now()} />
        </Section>
        <div className="max-lg:mt-10">
          <Section title="Spread over the day">
            <SpreadDay spreads={spreads} pip={row.pip_size} />
          </Section>
        </div>
      </div>
      <div className="mt-10">
        <Section title="The same by API">
          <CodeLanguages chosen={languages}>
            <SameByApi
              ticker={ticker}
              base={await readerAddress()}
              demoKey={ownKey === undefined ? demoKeyOf(parts) : undefined}
              ownKey={ownKey}
            />
          </CodeLanguages>
        </Section>
      </div>
    </PageMain>
  );
}
