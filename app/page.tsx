import { publicAddress } from "#app/address";
import { brandHere } from "#app/brand";
import { demoKeyOf } from "#app/demo-key";
import { signedInUser } from "#app/session";
import { VenueNotice } from "#components/markets/venue-notice";
import { PageMain } from "#components/shell/page-main";
import { Answers } from "#components/site/answers";
import { Comparison } from "#components/site/comparison";
import { Doors } from "#components/site/doors";
import { MarketPanel } from "#components/site/market-panel";
import { Offers } from "#components/site/offers";
import { Proof } from "#components/site/proof";
import { Starting } from "#components/site/starting";
import { WorldSessions } from "#components/site/world-sessions";
import { marketPath } from "#lib/contract/markets";
import { CALENDAR_STRIP_DAYS, type ServiceStatus } from "#lib/contract/service-status";
import { worldSessions } from "#lib/domain/world-sessions";
import { operations } from "#lib/operations/declarations";
import { DAY_MS } from "#lib/units";
import { type PortalRuntime, runningPortal } from "#server/pages/runtime";
import { shownBoard } from "#server/pages/shown-markets";
import { signUpMode } from "#server/pages/sign-up-rules";
import { SIGN_IN, SIGN_UP } from "../components/shell/pages";
import { credentialFor, marketReader, venueFacts } from "./markets/reader";

/** Shows current prices: never prerendered, and the service does not run during the build. */
export const dynamic = "force-dynamic";

const EXAMPLE_TICKERS = "EURUSD,XAUUSD";
/** Of the chart beside the board, where the venue has it. */
const CHART_TICKER = "XAUUSD";
const PROOF_TICKERS = ["XAUUSD", "EURUSD", "GBPUSD", "USDJPY", "USDCHF", "AUDUSD", "USDCAD", "XAGUSD"];

/** What the page says first: to those who may run the service, and to the customers of somebody who does. */
const WORDS = {
  operators: {
    title: "Market data you host yourself",
    text: "One service between your forex and metals provider and every program that needs its prices. It serves quotes, history and market hours over REST, streams and files, with API keys, limits and docs built in.",
  },
  customers: {
    title: "Market data for forex and metals",
    text: "Quotes, klines and market hours over REST and streams, under one API key. A sandbox with synthetic prices is always on.",
  },
};

async function Introduction({ demoKey, base }: { demoKey: string | undefined; base: string }) {
  const { forOperators, source } = brandHere();
  const { title, text } = forOperators ? WORDS.operators : WORDS.customers;
  const key = demoKey ?? "$SPOTWIRE_KEY";
  const own =
    (await signedInUser()) !== undefined
      ? { href: "/dashboard", label: "Go to the dashboard" }
      : signUpMode() === "closed"
        ? SIGN_IN
        : SIGN_UP;
  return (
    <section aria-labelledby="what">
      <h1 id="what" className="text-balance font-semibold text-4xl leading-[1.1] tracking-tight sm:text-5xl">
        {title}
      </h1>
      <p className="mt-4 max-w-[44rem] text-pretty text-ink-soft text-lg leading-8">{text}</p>
      <Doors
        host={new URL(base).host}
        call={`curl -H "Authorization: Bearer ${key}" "${base}${operations.latestQuotes.path}?tickers=${EXAMPLE_TICKERS}"`}
        callLabel={
          demoKey === undefined ? "Ask the operator of this installation for a key" : "Try it now with the public demo key"
        }
        playground={`/playground?op=latestQuotes&tickers=${EXAMPLE_TICKERS}`}
        own={own}
        forOperators={forOperators}
        source={source}
      />
    </section>
  );
}

/** The coming sessions of the world, by the live venue's forex calendar; nothing without one that covers the week. */
function Sessions({ status: { at_ms, venues } }: { status: ServiceStatus }) {
  const forex = venues.find(({ venue }) => venue === "live")?.groups.find(({ asset_class }) => asset_class === "forex");
  if (!forex?.sessions || forex.sessions.length === 0) return null;
  // From yesterday on, where the day of a reader in the west began.
  const fromMs = at_ms - (at_ms % DAY_MS) - DAY_MS;
  const toMs = fromMs + CALENDAR_STRIP_DAYS * DAY_MS;
  const open = forex.sessions.map(({ opens_at, closes_at }) => ({
    openMs: opens_at === null ? fromMs : Date.parse(opens_at),
    closeMs: closes_at === null ? toMs : Date.parse(closes_at),
  }));
  const sessions = worldSessions(open, fromMs, toMs);
  return <WorldSessions sessions={sessions} atMs={at_ms} />;
}

/** The prices of the venue that the reader may see. */
async function Prices({ parts }: { parts: PortalRuntime }) {
  const shown = await shownBoard(parts, await marketReader(parts));
  const { venue, report: rows } = shown;
  const { ticker = "" } = rows.find((row) => row.ticker === CHART_TICKER) ?? rows[0] ?? {};
  const bars = (await parts.reports.market(venue, ticker))?.bars ?? [];
  return (
    <>
      <VenueNotice {...venueFacts(parts, shown)} pathOf={marketPath} />
      <MarketPanel key={venue} venue={venue} rows={rows} first={{ ticker, bars }} credential={credentialFor(parts, shown)} />
    </>
  );
}

/** The home page: what the service is, the two ways to begin, prices with a chart, a proof, reasons, and where to go next. */
export default async function StartPage() {
  const parts = runningPortal();
  const { forOperators, name } = brandHere();
  const base = await publicAddress(parts?.env.PUBLIC_URL);
  const demoKey = parts && demoKeyOf(parts);
  return (
    <PageMain>
      <Introduction base={base} demoKey={demoKey} />
      <section aria-labelledby="board" className="mt-10 min-w-0">
        <h2 id="board" className="sr-only">
          Prices now
        </h2>
        {parts === undefined ? <Starting /> : <Prices parts={parts} />}
      </section>
      {demoKey === undefined ? null : <Proof tickers={PROOF_TICKERS} />}
      {forOperators ? <Comparison name={name} /> : null}
      {parts === undefined ? null : <Sessions status={await parts.reports.status()} />}
      {forOperators ? <Answers /> : null}
      <Offers forOperators={forOperators} />
    </PageMain>
  );
}
