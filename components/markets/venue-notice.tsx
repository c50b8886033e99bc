import Link from "next/link";
import type { ReactNode } from "react";
import type { LiveRefusal } from "#lib/contract/markets";
import type { Venue } from "#lib/contract/primitives";
import { NoLiveFeed } from "../portal/no-live-feed";
import { Badge } from "../ui/badge";

/** The address of the page for a venue, and there for an instrument. */
export type PathOf = (venue: Venue, ticker?: string) => string;

interface To {
  readonly href: string;
  readonly children: ReactNode;
}

const To = ({ href, children }: To) => (
  <Link prefetch={false} href={href} className="text-accent underline">
    {children}
  </Link>
);

interface ReasonProps {
  readonly refused: LiveRefusal;
  readonly pathOf: PathOf;
  readonly ticker: string | undefined;
  /** Of the live venue. */
  readonly provider: string | null;
}

/** Why this is the sandbox, and how to see the live venue. */
function Reason({ refused, pathOf, ticker, provider }: ReasonProps) {
  const needs = `Live prices${provider === null ? "" : ` of ${provider}`} need access that the operator grants.`;
  switch (refused) {
    case "signed_out":
      return (
        <>
          {needs} <To href={`/signin?next=${encodeURIComponent(pathOf("live", ticker))}`}>Sign in</To> with an account that has a
          live key to see them.
        </>
      );
    case "unverified":
      return (
        <>
          {needs} First verify your email: <To href="/dashboard">open your dashboard</To>.
        </>
      );
    case "no_role":
      return (
        <>
          Live prices{provider === null ? "" : ` of ${provider}`} are read with a key of your organisation, and your role uses
          none. An owner can <To href="/dashboard/organisation">make you a developer</To>.
        </>
      );
    case "no_key":
      return (
        <>
          To see live prices{provider === null ? "" : ` of ${provider}`}, you need an active live key with the scope{" "}
          <code className="font-mono">market:read</code> that allows your address: <To href="/dashboard/keys">your keys</To>.
        </>
      );
    case "no_access":
      return <>{needs} Your account has none: ask the operator of this installation.</>;
    case "rate_limited":
      return (
        <>
          Your live key has reached its rate limit. Reload the page in a minute, or see <To href="/dashboard">your quota</To>.
        </>
      );
    case "not_listed":
      return (
        <>
          {ticker} is not among your instruments of the live venue: <To href={pathOf("live")}>all of them</To>.
        </>
      );
  }
}

interface VenueNoticeProps {
  readonly pathOf: PathOf;
  readonly venue: Venue;
  readonly refused: LiveRefusal | undefined;
  /** The slug of the live venue's provider; null where there is none. */
  readonly provider: string | null;
  /** The name of the key that the live venue is read with. */
  readonly keyName: string | undefined;
  /** Of the page; undefined where it shows several. */
  readonly ticker?: string;
}

/** Which venue the prices of a page are of, and why. */
export function VenueNotice({ venue, refused, provider, keyName, pathOf, ticker }: VenueNoticeProps) {
  if (venue === "live" && provider === null)
    return (
      <div className="mb-6">
        <NoLiveFeed>the live venue has no new prices.</NoLiveFeed>
      </div>
    );
  return (
    <p
      role="status"
      className="mb-6 flex items-baseline gap-3 rounded-md border border-line bg-sunken px-4 py-2.5 text-ink-soft text-sm leading-6"
    >
      <Badge tone={venue === "live" ? "positive" : "neutral"}>{venue === "live" ? "Live venue" : "Sandbox"}</Badge>
      {venue === "live" ? (
        <span>
          From <strong className="font-medium text-ink">{provider}</strong>.
          {keyName === undefined ? null : ` Read with your key “${keyName}”: what this page reads counts for its limits.`}
        </span>
      ) : (
        <span>
          <strong className="font-medium text-ink">This is the sandbox.</strong>{" "}
          {refused === undefined ? (
            "Sandbox prices are synthetic and run 24/7."
          ) : (
            <Reason refused={refused} pathOf={pathOf} ticker={ticker} provider={provider} />
          )}
        </span>
      )}
    </p>
  );
}
