import Link from "next/link";
import type { ReactNode } from "react";
import type { LiveRefusal } from "#lib/contract/markets";
import type { Venue } from "#lib/contract/primitives";
import { AskLive } from "../portal/ask-live";
import { NoLiveFeed } from "../portal/no-live-feed";
import { OperatorDocsLink } from "../portal/operator-docs";
import { sourceName } from "../portal/source-name";
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

/** What a page shows of the venue. */
type Subject = "prices" | "history";

interface ReasonProps {
  readonly refused: LiveRefusal;
  readonly pathOf: PathOf;
  readonly ticker: string | undefined;
  readonly subject: Subject;
}

/** Why this is the sandbox, and how to see the live venue. */
function Reason({ refused, pathOf, ticker, subject }: ReasonProps) {
  const prices = subject === "prices";
  const what = prices ? "live prices" : "the history of the live venue";
  const needs = `${what.charAt(0).toUpperCase()}${what.slice(1)} ${prices ? "need" : "needs"} access that the operator grants.`;
  switch (refused) {
    case "signed_out":
      return (
        <>
          {needs} <To href={`/signin?next=${encodeURIComponent(pathOf("live", ticker))}`}>Sign in</To> with an account that has a
          live key to see {prices ? "them" : "it"}.
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
          The live venue is read with a key of your organisation, and your role uses none. An owner can{" "}
          <To href="/dashboard/organisation">make you a developer</To>.
        </>
      );
    case "no_key":
      return (
        <>
          To see {what}, you need an active live key with the scope <code className="font-mono">market:read</code> that allows
          your address: <To href="/dashboard/keys">your keys</To>.
        </>
      );
    case "no_access":
      return (
        <>
          {needs} <AskLive />
        </>
      );
    case "rate_limited":
      return (
        <>
          The pages of your account read live prices too often just now. Reload this one in a minute: your keys are not affected.
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
  readonly subject?: Subject;
}

/** Where what is shown of the live venue comes from. History outlives its provider, and is imported without any. */
function Origin({ provider, subject }: Pick<VenueNoticeProps, "provider"> & { subject: Subject }) {
  const name = provider === null ? null : <strong className="font-medium text-ink">{sourceName(provider)}</strong>;
  if (subject === "prices") return <>From {name}.</>;
  if (provider !== null) return <>The history of the live venue, with new klines from {name}.</>;
  return (
    <>
      The history of the live venue. Until an operator{" "}
      <OperatorDocsLink href="/docs/self-hosting#provider">binds a provider</OperatorDocsLink>, only imports add to it.
    </>
  );
}

const SANDBOX_WORDS: Readonly<Record<Subject, string>> = {
  prices: "Sandbox prices are synthetic and run 24/7.",
  history: "It computes its klines, so only its test tickers have gaps.",
};

/** Which venue a page shows, and why. */
export function VenueNotice({ venue, refused, provider, keyName, pathOf, ticker, subject = "prices" }: VenueNoticeProps) {
  if (venue === "live" && provider === null && subject === "prices")
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
          <Origin provider={provider} subject={subject} />
          {keyName === undefined ? null : ` Shows what your key “${keyName}” may read, and takes nothing from its limits.`}
        </span>
      ) : (
        <span>
          <strong className="font-medium text-ink">This is the sandbox.</strong>{" "}
          {refused === undefined ? (
            SANDBOX_WORDS[subject]
          ) : provider === null && subject === "prices" ? (
            "The live venue has no provider yet, so there are no live prices to see."
          ) : (
            <Reason refused={refused} pathOf={pathOf} ticker={ticker} subject={subject} />
          )}
        </span>
      )}
    </p>
  );
}
