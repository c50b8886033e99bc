import type { Metadata } from "next";
import { cookies } from "next/headers";
import Link from "next/link";
import { notFound } from "next/navigation";
import { cache } from "react";
import { demoKeyOf } from "#app/demo-key";
import { readerAddress } from "#app/reader-address";
import { CodeLanguages } from "#components/docs/code-languages";
import { MarketHours } from "#components/markets/market-hours";
import { MarketView } from "#components/markets/market-view";
import { SameByApi } from "#components/markets/same-by-api";
import { SpreadDay } from "#components/markets/spread-day";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { Section } from "#components/ui/card";
import { Ticker } from "#lib/contract/primitives";
import { runningPortal } from "#lib/portal/runtime";
import { LANGUAGES_COOKIE, languagesOf } from "../../../components/docs/languages";

interface Props {
  readonly params: Promise<{ readonly ticker: string }>;
}

/** Shows current prices: never prerendered. */
export const dynamic = "force-dynamic";

/** The market of the address, read once per request; undefined before the service is up, and 404 for an unknown ticker. */
const detailOf = cache(async (ticker: string) => {
  const parts = runningPortal();
  if (parts === undefined) return undefined;
  if (!Ticker.safeParse(ticker).success) notFound();
  return (await parts.reports.market("sandbox", ticker)) ?? notFound();
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { ticker } = await params;
  const name = (await detailOf(ticker))?.row.name;
  if (name === undefined) return { title: ticker };
  const title = `${ticker}: ${name}`;
  const description = `Live chart, bid, ask, spread and market hours of ${ticker} (${name}), and the same by API.`;
  return { title, description, alternates: { canonical: `/markets/${ticker}` }, openGraph: { title, description } };
}

/** One market of the sandbox: chart, numbers, spread, hours, and the same by API. */
export default async function MarketPage({ params }: Props) {
  const { ticker } = await params;
  const parts = runningPortal();
  const detail = await detailOf(ticker);
  if (parts === undefined || detail === undefined)
    return (
      <PageMain>
        <Starting />
      </PageMain>
    );
  const demoKey = demoKeyOf(parts);
  const { row, instrument, bars, hours, spreads, closures, closures_of: of } = detail;
  const languages = languagesOf((await cookies()).get(LANGUAGES_COOKIE)?.value);
  return (
    <PageMain>
      <nav aria-label="Breadcrumb" className="mb-4 text-sm">
        <Link prefetch={false} href="/markets" className="text-ink-soft hover:text-ink">
          ← All markets
        </Link>
      </nav>
      <MarketView key={ticker} detail={{ row, instrument, bars, hours }} demoKey={demoKey} />
      <div className="mt-10 grid items-start gap-x-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Section title="Market hours" aside={`${of === "live" ? "Live venue" : "Sandbox"}, all times UTC`}>
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
            <SameByApi ticker={ticker} base={await readerAddress()} demoKey={demoKey ?? null} />
          </CodeLanguages>
        </Section>
      </div>
    </PageMain>
  );
}
