import { publicAddress } from "#app/address";
import { boardOf, liveVenueOf } from "#app/board";
import { Board } from "#components/board/board";
import { LiveVenue } from "#components/board/live-venue";
import { PageMain } from "#components/shell/page-main";
import { Command } from "#components/ui/command";
import { operations } from "#lib/contract/operations";
import { isFault } from "#lib/fault";
import { type Runtime, runtime } from "#lib/runtime";

/** Prices of this moment: never made ahead, and nothing runs while the pages are built. */
export const dynamic = "force-dynamic";

const EXAMPLE_TICKERS = "EURUSD,XAUUSD";
const UTC_TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "UTC" });

/** The running parts; undefined while they are not up, as under Next's own development server. */
function running(): Runtime | undefined {
  try {
    return runtime();
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

function FirstCall({ base, demoKey }: { base: string; demoKey: string | undefined }) {
  const call = `"${base}${operations.latestQuotes.path}?tickers=${EXAMPLE_TICKERS}"`;
  if (demoKey === undefined)
    return (
      <Command label="Two quotes, with a key from the operator of this installation">{`curl -H "Authorization: Bearer $SPOTWIRE_KEY" ${call}`}</Command>
    );
  return (
    <Command label="Two quotes, with the public demo key. Paste it as it is.">{`curl -H "Authorization: Bearer ${demoKey}" ${call}`}</Command>
  );
}

function Introduction({ base, demoKey }: { base: string; demoKey: string | undefined }) {
  return (
    <section aria-labelledby="what" className="min-w-0">
      <h1 id="what" className="text-balance font-semibold text-3xl leading-tight tracking-tight sm:text-4xl">
        Market data you host yourself
      </h1>
      <p className="mt-4 max-w-prose text-ink-soft text-lg leading-7">
        Quotes, snapshots, klines and market hours for forex and metals over REST, from this address:
      </p>
      <p className="mt-2 font-mono text-sm [overflow-wrap:anywhere]">{base}</p>
      <div className="mt-8">
        <FirstCall base={base} demoKey={demoKey} />
      </div>
      <ul className="mt-6 flex flex-wrap gap-x-6 gap-y-2 text-sm">
        <li>
          <a href="/openapi.json" className="text-accent underline">
            Every call, as OpenAPI 3.1
          </a>
        </li>
        <li>
          <a href="/api/ready" className="text-accent underline">
            State of every part
          </a>
        </li>
      </ul>
    </section>
  );
}

/** The start: what this is, a call that works when pasted, and the state of things now. */
export default async function StartPage() {
  const parts = running();
  const base = await publicAddress(parts?.env.PUBLIC_URL);
  const demoKey = parts === undefined || parts.env.DEMO_KEY === "off" ? undefined : parts.env.DEMO_KEY;
  return (
    <PageMain>
      <div className="grid items-start gap-12 lg:grid-cols-2 lg:gap-16">
        <Introduction base={base} demoKey={demoKey} />
        <section aria-labelledby="board" className="min-w-0">
          <div className="mb-3 flex items-baseline justify-between gap-4">
            <h2 id="board" className="font-medium">
              Sandbox now
            </h2>
            {parts === undefined ? null : (
              <p className="text-ink-faint text-sm">
                <time dateTime={new Date(parts.clock.now()).toISOString()} className="font-mono tabular-nums">
                  {UTC_TIME.format(parts.clock.now())}
                </time>{" "}
                UTC
              </p>
            )}
          </div>
          {parts === undefined ? (
            <p className="rounded-lg border border-line border-dashed p-6 text-ink-soft text-sm">
              The service is starting. Reload this page in a moment;{" "}
              <a href="/api/ready" className="text-accent underline">
                /api/ready
              </a>{" "}
              says what it waits for.
            </p>
          ) : (
            <>
              <Board rows={boardOf(parts)} caption="Latest sandbox prices of eight instruments and the state of their markets" />
              <p className="mt-3 text-ink-faint text-sm">
                Synthetic prices: always on, the same on every installation with the same seed. As of this page; reload for newer
                ones.
              </p>
              <LiveVenue {...liveVenueOf(parts)} />
            </>
          )}
        </section>
      </div>
    </PageMain>
  );
}
