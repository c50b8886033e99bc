import Link from "next/link";
import { publicAddress } from "#app/address";
import { demoKeyOf } from "#app/demo-key";
import { signedInUser } from "#app/session";
import { Board } from "#components/board/board";
import { PageMain } from "#components/shell/page-main";
import { Offers } from "#components/site/offers";
import { Starting } from "#components/site/starting";
import { buttonClass } from "#components/ui/button";
import { CodeBlock } from "#components/ui/code-block";
import { operations } from "#lib/contract/operations";
import { runningPortal } from "#lib/portal/runtime";

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
    <section aria-labelledby="what" className="min-w-0 lg:pt-3">
      <h1 id="what" className="text-balance font-semibold text-4xl leading-[1.1] tracking-tight sm:text-5xl">
        Market data you host yourself
      </h1>
      <p className="mt-5 max-w-[34rem] text-pretty text-ink-soft text-lg leading-8">
        Forex and metals over REST and streams: quotes, klines and market hours from a single service on your own machine, with
        API keys, rate limits and docs built in.
      </p>
      <div className="mt-8 flex flex-wrap gap-3">
        <Link prefetch={false} href="/playground" className={`${buttonClass("primary")} min-h-11 px-5 hover:brightness-110`}>
          Open the playground
        </Link>
        <Link prefetch={false} href={signedIn ? "/dashboard" : "/signup"} className={`${buttonClass("secondary")} min-h-11 px-5`}>
          {signedIn ? "Go to the dashboard" : "Create an account"}
        </Link>
      </div>
      <div className="mt-10">
        <FirstCall base={base} demoKey={demoKey} />
      </div>
    </section>
  );
}

/** The home page: what Spotwire is, live prices, a working first call, and links to the playground and sign-up. */
export default async function StartPage() {
  const parts = runningPortal();
  const base = await publicAddress(parts?.env.PUBLIC_URL);
  const demoKey = parts && demoKeyOf(parts);
  return (
    <PageMain>
      <div className="grid items-start gap-12 lg:grid-cols-[minmax(0,1fr)_minmax(0,34rem)] lg:gap-16">
        <Introduction base={base} demoKey={demoKey} />
        <section aria-labelledby="board" className="min-w-0">
          <h2 id="board" className="sr-only">
            Prices now
          </h2>
          {parts === undefined ? (
            <Starting />
          ) : (
            <Board
              rows={await parts.reports.board()}
              caption="Latest sandbox prices of eight instruments and the state of their markets"
              demoKey={demoKey}
            />
          )}
        </section>
      </div>
      <Offers />
    </PageMain>
  );
}
