import { headers } from "next/headers";
import { demoKeyOf } from "#app/demo-key";
import { toOwnKey } from "#app/own-key";
import type { PageSearch } from "#app/page-search";
import { signedInUser } from "#app/session";
import type { PortalRuntime } from "#lib/portal/runtime";
import type { MarketReader, ShownMarkets } from "#lib/portal/shown-markets";
import { visitorOf } from "#lib/portal/visitor";
import { type Credential, demoCredential } from "../../components/portal/credential";

/** Whether the address of a page asks for the live venue. */
export async function asksForLive({ searchParams }: PageSearch): Promise<boolean> {
  return (await searchParams).venue === "live";
}

/** Who asks for a page of the markets, and of which venue. */
export async function marketReader(parts: PortalRuntime, live: boolean): Promise<MarketReader> {
  const { address } = visitorOf(parts, await headers());
  return { user: await signedInUser(), address, live };
}

/** What the page calls with: the demo key in the sandbox, if it is enabled, and the reader's own key in the live venue. */
export function credentialFor(parts: PortalRuntime, { venue, liveKey }: ShownMarkets<unknown>): Credential | undefined {
  return venue === "live" && liveKey !== undefined ? { kind: "own", key: toOwnKey(liveKey) } : demoCredential(demoKeyOf(parts));
}

/** True for a page of the live venue that nothing feeds. */
export function lacksFeed({ env }: PortalRuntime, { venue }: ShownMarkets<unknown>): boolean {
  return venue === "live" && env.LIVE_FEED.includes("none");
}
