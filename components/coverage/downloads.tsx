import Link from "next/link";
import type { CoverageRow } from "#lib/contract/coverage";
import { KLINES_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import { SECOND_MS } from "#lib/units";
import type { Credential } from "../portal/credential";
import { Section } from "../ui/card";

interface DownloadsProps {
  readonly row: CoverageRow;
  /** Undefined where the reader has no key of the venue. */
  readonly credential: Credential | undefined;
}

/** The klines of a year, oldest first, as a call in the playground, which also saves them as CSV. */
function downloadOf(ticker: string, year: number, credential: Credential): string {
  const query = new URLSearchParams({
    op: "klines",
    ticker,
    timeframe: "M1",
    from: String(Date.UTC(year, 0) / SECOND_MS),
    to: String(Date.UTC(year + 1, 0) / SECOND_MS),
    limit: String(KLINES_MAX_LIMIT_ROWS),
  });
  if (credential.kind === "own") query.set("key", credential.key.id);
  return `/playground?${query}`;
}

/** How the klines of an instrument are had. */
export function Downloads({ row: { ticker, years }, credential }: DownloadsProps) {
  if (credential === undefined)
    return (
      <Section title="Download">
        <p className="max-w-prose text-ink-soft text-sm leading-6">
          Calls need a key of this venue. See{" "}
          <Link prefetch={false} href="/docs/authentication" className="text-accent underline">
            Authentication
          </Link>
          .
        </p>
      </Section>
    );
  return (
    <Section title="Download">
      <p className="max-w-prose text-ink-soft text-sm leading-6">
        Each year opens as a call in the playground, with code for eight languages and a CSV file. A{" "}
        <Link prefetch={false} href="/dashboard/links" className="text-accent underline">
          signed link
        </Link>{" "}
        gives a spreadsheet the same CSV.
      </p>
      <ul className="mt-3 flex flex-wrap gap-2">
        {years
          .filter(({ rows }) => rows > 0)
          .toReversed()
          .map(({ year }) => (
            <li key={year}>
              <Link
                prefetch={false}
                href={downloadOf(ticker, year, credential)}
                className="inline-flex min-h-8 items-center rounded-md border border-line px-3 font-mono text-sm tabular-nums hover:border-edge pointer-coarse:min-h-11"
              >
                {year}
                <span className="sr-only"> of {ticker} in the playground</span>
              </Link>
            </li>
          ))}
      </ul>
    </Section>
  );
}
