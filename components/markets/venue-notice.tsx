import Link from "next/link";
import type { ReactNode } from "react";
import type { LiveRefusal } from "#lib/contract/markets";
import type { Venue } from "#lib/contract/primitives";
import { NoLiveFeed } from "../portal/no-live-feed";

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

/** Why this is the sandbox, and how to see the live venue. */
function Reason({ refused, pathOf, ticker }: { refused: LiveRefusal; pathOf: PathOf; ticker: string | undefined }) {
  switch (refused) {
    case "signed_out":
      return (
        <>
          <To href={`/signin?next=${encodeURIComponent(pathOf("live", ticker))}`}>Sign in</To> with an account that has a live key
          to see the live venue.
        </>
      );
    case "unverified":
      return (
        <>
          To see the live venue, first verify your email: <To href="/dashboard">open your dashboard</To>.
        </>
      );
    case "no_key":
      return (
        <>
          To see the live venue, you need an active live key with the scope <code className="font-mono">market:read</code> that
          allows your address: <To href="/dashboard/keys">your keys</To>.
        </>
      );
    case "no_access":
      return <>Your account has no access to live data. Ask the operator of this installation to grant it.</>;
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
  readonly refused: LiveRefusal | undefined;
  /** True for a live venue that nothing feeds. */
  readonly noFeed: boolean;
  /** Of the page; undefined on the list. */
  readonly ticker?: string;
}

/** What a reader has to know about the venue of this page, if anything. */
export function VenueNotice({ refused, pathOf, noFeed, ticker }: VenueNoticeProps) {
  if (refused !== undefined)
    return (
      <p role="status" className="mb-6 rounded-md border border-line bg-sunken px-4 py-3 text-sm leading-6">
        <strong className="font-medium">This is the sandbox.</strong> <Reason refused={refused} pathOf={pathOf} ticker={ticker} />
      </p>
    );
  return noFeed ? (
    <div className="mb-6">
      <NoLiveFeed>the live venue has no new prices.</NoLiveFeed>
    </div>
  ) : null;
}
