import { headers } from "next/headers";
import { pageCredentialOf } from "#app/demo-key";
import { toOwnKey } from "#app/own-key";
import type { PageSearch } from "#app/page-search";
import { signedInUser } from "#app/session";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { liveProvider } from "#lib/env-feeds";
import type { PortalRuntime } from "#server/pages/runtime";
import type { MarketReader, ShownCoverage, ShownMarkets } from "#server/pages/shown-markets";
import { visitorOf } from "#server/pages/visitor";
import type { Credential } from "../../components/portal/credential";

/** The venue that the address of a page asks for, if any. */
export async function askedVenue({ searchParams }: PageSearch): Promise<Venue | undefined> {
  const { venue } = await searchParams;
  return VENUES.find((one) => one === venue);
}

/** Who asks for a page with prices, and of which venue. */
export async function marketReader(parts: PortalRuntime, asked?: Venue): Promise<MarketReader> {
  const { address } = visitorOf(parts, await headers());
  return { user: await signedInUser(), address, asked };
}

/** What the page calls with: a token of its own in either venue. In the live one it reads what the reader's key may. */
export function credentialFor(parts: PortalRuntime, { venue, liveKey }: ShownMarkets<unknown>): Credential | undefined {
  return venue === "live" && liveKey !== undefined ? { kind: "live_page", key: toOwnKey(liveKey) } : pageCredentialOf(parts);
}

/** Which venue a page shows, and why: the facts of its notice. */
export function venueFacts({ env }: PortalRuntime, { venue, refused, liveKey }: ShownMarkets<unknown>) {
  return { venue, refused, provider: liveProvider(env), keyName: liveKey?.name };
}

/** The same of a page about coverage, whether its reader may change the venue, and what it leads to calls with. */
export function coverageFacts(parts: PortalRuntime, shown: ShownCoverage<unknown>) {
  const { venue, liveKey, keyless } = shown;
  return {
    notice: { ...venueFacts(parts, shown), ...(keyless && { keyName: undefined }), subject: "history" as const },
    mayChoose: keyless || liveKey !== undefined,
    credential: venue === "live" && liveKey === undefined ? undefined : credentialFor(parts, shown),
  };
}
