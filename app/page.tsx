import Link from "next/link";
import { publicAddress } from "#app/address";
import { demoKeyOf } from "#app/demo-key";
import { signedInUser } from "#app/session";
import { PageMain } from "#components/shell/page-main";
import { Answers } from "#components/site/answers";
import { MarketPanel } from "#components/site/market-panel";
import { Offers } from "#components/site/offers";
import { Starting } from "#components/site/starting";
import { WorldSessions } from "#components/site/world-sessions";
import { buttonClass } from "#components/ui/button";
import { CodeBlock } from "#components/ui/code-block";
import { operations } from "#lib/contract/operations";
import { CALENDAR_STRIP_DAYS, type ServiceStatus } from "#lib/contract/service-status";
import { worldSessions } from "#lib/domain/world-sessions";
import { runningPortal } from "#lib/portal/runtime";
import { DAY_MS } from "#lib/units";

/** Shows current prices: never prerendered, and the service does not run during the build. */
export const dynamic = "force-dynamic";

const EXAMPLE_TICKERS = "EURUSD,XAUUSD";

function FirstCall({ base, demoKey }: { base: string; demoKey: string | undefined }) {
  const call = `"${base}${operations.latestQuotes.path}?tickers=${EXAMPLE_TICKERS}"`;
  const key = demoKey ?? "$SPOTWIRE_KEY";
  const label = demoKey === undefined ? "Ask the operator of this installation for a key" : "Try it now with the public demo key";
  return <CodeBlock label={label}>{`curl -H "Authorization: Bearer ${key}" ${call}`}</CodeBlock>;
}

async function Introduction({ demoKey, base }: { demoKey: string | undefined; base: string }) {
  const signedIn = (await signedInUser()) !== undefined;
  return (
    <section aria-labelledby="what" className="grid items-end gap-x-12 gap-y-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,27rem)]">
      <div className="min-w-0">
        <h1 id="what" className="text-balance font-semibold text-4xl leading-[1.1] tracking-tight sm:text-5xl">
          Market data you host yourself
        </h1>
        <p className="mt-4 max-w-[36rem] text-pretty text-ink-soft text-lg leading-8">
          Forex and metals over REST and streams: quotes, klines and market hours from a single service on your own machine, with
          API keys, rate limits and docs built in.
        </p>
        <div className="mt-6 flex flex-wrap gap-3">
          <Link prefetch={false} href="/playground" className={`${buttonClass("primary")} min-h-11 px-5 hover:brightness-110`}>
            Open the playground
          </Link>
          <Link
            prefetch={false}
            href={signedIn ? "/dashboard" : "/signup"}
            className={`${buttonClass("secondary")} min-h-11 px-5`}
          >
            {signedIn ? "Go to the dashboard" : "Create an account"}
          </Link>
        </div>
      </div>
      <div className="min-w-0">
        <FirstCall base={base} demoKey={demoKey} />
      </div>
    </section>
  );
}

/** The coming sessions of the world, by the live venue's forex calendar; nothing without one that covers the week. */
function Sessions({ status: { at_ms, venues } }: { status: ServiceStatus }) {
  const forex = venues.find(({ venue }) => venue === "live")?.groups.find(({ asset_class }) => asset_class === "forex");
  if (!forex?.sessions || forex.sessions.length === 0) return null;
  const open = forex.sessions.map(({ opens_at, closes_at }) => ({
    openMs: Date.parse(opens_at),
    closeMs: Date.parse(closes_at),
  }));
  const fromMs = at_ms - (at_ms % DAY_MS);
  const sessions = worldSessions(open, fromMs, fromMs + (CALENDAR_STRIP_DAYS - 1) * DAY_MS);
  return <WorldSessions sessions={sessions} atMs={at_ms} />;
}

/** The home page: what Spotwire is, a working first call, live prices with a chart, and where to go next. */
export default async function StartPage() {
  const parts = runningPortal();
  const base = await publicAddress(parts?.env.PUBLIC_URL);
  const demoKey = parts && demoKeyOf(parts);
  return (
    <PageMain>
      <Introduction base={base} demoKey={demoKey} />
      <section aria-labelledby="board" className="mt-10 min-w-0">
        <h2 id="board" className="sr-only">
          Prices now
        </h2>
        {parts === undefined ? <Starting /> : <MarketPanel rows={await parts.reports.board()} demoKey={demoKey} />}
      </section>
      {parts === undefined ? null : <Sessions status={await parts.reports.status()} />}
      <Answers />
      <Offers />
    </PageMain>
  );
}
