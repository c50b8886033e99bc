import { addressFilter } from "#lib/access/address";
import type { KeyRecord } from "#lib/access/key-record";
import type { MayRead } from "#lib/access/permissions";
import type { BoardRow } from "#lib/contract/board";
import type { CoverageReport, TickerCoverage } from "#lib/contract/coverage";
import { LIVE_PAGE_COST_UNITS, type LiveRefusal, type MarketDetail, type MarketRow } from "#lib/contract/markets";
import type { PortalUser } from "#lib/contract/portal";
import type { Venue } from "#lib/contract/primitives";
import { may } from "#lib/contract/roles";
import { liveProvider } from "#lib/env-feeds";
import { BOARD_TICKERS } from "#lib/market/board";
import { accountFacts } from "#server/store/usage/account-facts";
import { listValidKeys } from "./own-keys";
import type { PortalRuntime } from "./runtime";

/** Who opened a page of the markets, or about their coverage. */
export interface MarketReader {
  /** Undefined without a sign-in. */
  readonly user: Pick<PortalUser, "accountId" | "sessionId" | "emailVerified" | "role" | "operator" | "secondFactor"> | undefined;
  readonly address: string;
  /** The venue that the address of the page asks for; undefined: the live one, where there is one that they may see. */
  readonly asked: Venue | undefined;
}

/** What such a page shows. */
export interface ShownMarkets<Report> {
  readonly venue: Venue;
  readonly report: Report;
  /** The reader's key of the live venue, where they may see it too. */
  readonly liveKey: KeyRecord | undefined;
  /** Why this is the sandbox although nobody asked for it; undefined also where the live venue has no provider. */
  readonly refused: LiveRefusal | undefined;
}

/** What a page about coverage shows. */
export interface ShownCoverage<Report> extends ShownMarkets<Report> {
  /** The reader needs no key to see what is stored of the live venue: it is read for them without one, and counts for none. */
  readonly keyless: boolean;
}

/** What may be read of the live venue, and with which key. */
interface LiveView {
  readonly key: KeyRecord;
  /** For whom a page counts that shows it. */
  readonly page: Parameters<PortalRuntime["access"]["takeForPage"]>[0];
  readonly mayRead: MayRead;
}

const READ = "market:read";
const STREAM = "market:stream";

/**
 * The live venue as a reader may see it: with the newest of their live keys that reads, preferably one that also streams, and
 * that allows their address. A refusal otherwise.
 */
async function liveViewOf(running: PortalRuntime, { user, address }: MarketReader): Promise<LiveView | LiveRefusal> {
  if (user === undefined) return "signed_out";
  if (!user.emailVerified) return "unverified";
  if (!may(user.role, "build")) return "no_role";
  const keys = (await listValidKeys(running, user.accountId)).filter(
    ({ venue, scopes, addresses }) => venue === "live" && scopes.includes(READ) && addressFilter(addresses)(address),
  );
  const key = keys.find(({ scopes }) => scopes.includes(STREAM)) ?? keys[0];
  const principal = key && (await running.access.refresh({ keyId: key.id }));
  if (key === undefined)
    return (await accountFacts(running.db, user.accountId, running.clock.now())).live_access ? "no_key" : "no_access";
  if (principal === undefined || principal.suspended) return "no_key";
  if (!principal.liveAccess) return "no_access";
  return { key, page: { shows: key.id, account: user.accountId, session: user.sessionId }, mayRead: principal.mayRead };
}

/** The reader's key of the live venue, where it has a provider and they may see it; undefined otherwise. */
export async function liveKeyOf(running: PortalRuntime, reader: MarketReader): Promise<KeyRecord | undefined> {
  if (liveProvider(running.env) === null) return undefined;
  const view = await liveViewOf(running, reader);
  return typeof view === "string" ? undefined : view.key;
}

interface Reads<Report> {
  readonly sandbox: () => Promise<Report>;
  /** Whether the live venue has what a report of the sandbox shows. */
  readonly isInLive: (report: Report, mayRead: MayRead) => boolean;
  /** Undefined for what the live venue, or the reader's part of it, does not list. */
  readonly live: (mayRead: MayRead) => Promise<Report | undefined>;
}

/** Reads the venue that was asked for. The live one is only computed for a reader who may see it, and it counts for the pages of their account. */
async function show<Report>(
  running: PortalRuntime,
  reader: MarketReader,
  { sandbox, isInLive, live }: Reads<Report>,
): Promise<ShownMarkets<Report>> {
  const view = await liveViewOf(running, reader);
  const refuse = async (refused?: LiveRefusal) => {
    const report = await sandbox();
    const liveKey = typeof view !== "string" && isInLive(report, view.mayRead) ? view.key : undefined;
    return { venue: "sandbox", report, liveKey, refused } as const;
  };
  const asked = reader.asked ?? (liveProvider(running.env) === null ? "sandbox" : "live");
  if (asked === "sandbox") return refuse();
  if (typeof view === "string") return refuse(view);
  const taken = await running.access.takeForPage(view.page, LIVE_PAGE_COST_UNITS, reader.address);
  if (!taken?.allowed) return refuse(taken === undefined ? "no_key" : "rate_limited");
  const report = await live(view.mayRead);
  return report === undefined ? refuse("not_listed") : { venue: "live", report, liveKey: view.key, refused: undefined };
}

/** Eight markets at a glance, in the same way. */
export function shownBoard(running: PortalRuntime, reader: MarketReader): Promise<ShownMarkets<BoardRow[]>> {
  const { reports } = running;
  return show(running, reader, {
    sandbox: () => reports.board(),
    isInLive: () => true,
    async live(mayRead) {
      const rows = (await reports.markets("live")).filter((row) => mayRead(listingOf(row)) && row.state !== "not_offered");
      const glance = BOARD_TICKERS.flatMap((ticker) => rows.find((row) => row.ticker === ticker) ?? []);
      return [...glance, ...rows.filter((row) => !glance.includes(row))].slice(0, BOARD_TICKERS.length);
    },
  });
}

const listingOf = ({ ticker, asset_class }: Pick<MarketRow, "ticker" | "asset_class">) => ({ ticker, assetClass: asset_class });

/** All markets of a venue: of the live one as far as the reader's key may read it, else of the sandbox. */
export function shownMarkets(running: PortalRuntime, reader: MarketReader): Promise<ShownMarkets<MarketRow[]>> {
  const { reports } = running;
  return show(running, reader, {
    sandbox: () => reports.markets("sandbox"),
    isInLive: () => true,
    live: async (mayRead) => (await reports.markets("live")).filter((row) => mayRead(listingOf(row))),
  });
}

/** One market of a venue, in the same way; its report is undefined for a ticker that is not listed. */
export async function shownMarket(
  running: PortalRuntime,
  reader: MarketReader,
  ticker: string,
): Promise<ShownMarkets<MarketDetail | undefined>> {
  const { reports } = running;
  return show(running, reader, {
    sandbox: () => reports.market("sandbox", ticker),
    isInLive: (detail, mayRead) => detail?.in_live === true && mayRead(listingOf(detail.row)),
    async live(mayRead) {
      const detail = await reports.market("live", ticker);
      return detail !== undefined && mayRead(listingOf(detail.row)) ? detail : undefined;
    },
  });
}

/** Who sees what is stored of the live venue without a key: operators, and with DATA_PAGE=public everybody. It has no prices. */
const needsNoKey = ({ env }: PortalRuntime, { user }: MarketReader) =>
  env.DATA_PAGE === "public" || (user?.operator === true && user.secondFactor);

/** Reads the coverage of the venue that was asked for, of the sandbox unless it was the live one, as markets are read or without a key. */
async function showCoverage<Report>(
  running: PortalRuntime,
  reader: MarketReader,
  reads: Reads<Report>,
): Promise<ShownCoverage<Report>> {
  const { asked = "sandbox" } = reader;
  if (!needsNoKey(running, reader)) return { ...(await show(running, { ...reader, asked }, reads)), keyless: false };
  const [view, live] = await Promise.all([liveViewOf(running, reader), asked === "live" ? reads.live(() => true) : undefined]);
  const report = live ?? (await reads.sandbox());
  return {
    venue: live === undefined ? "sandbox" : "live",
    report,
    // For the calls that the page leads to.
    liveKey: typeof view !== "string" && reads.isInLive(report, view.mayRead) ? view.key : undefined,
    refused: asked === "live" && live === undefined ? "not_listed" : undefined,
    keyless: true,
  };
}

/** The coverage of a venue. */
export function shownCoverage(running: PortalRuntime, reader: MarketReader): Promise<ShownCoverage<CoverageReport>> {
  const { coverage } = running;
  return showCoverage(running, reader, {
    sandbox: () => coverage.list("sandbox"),
    isInLive: () => true,
    async live(mayRead) {
      const report = await coverage.list("live");
      return { ...report, items: report.items.filter((row) => mayRead(listingOf(row))) };
    },
  });
}

/** The coverage of one instrument in the same way; its report is undefined for a ticker that is not listed. */
export function shownTickerCoverage(
  running: PortalRuntime,
  reader: MarketReader,
  ticker: string,
): Promise<ShownCoverage<TickerCoverage | undefined>> {
  const { coverage } = running;
  return showCoverage(running, reader, {
    sandbox: () => coverage.ticker("sandbox", ticker),
    isInLive: (report, mayRead) => report !== undefined && mayRead(listingOf(report.row)),
    async live(mayRead) {
      const report = await coverage.ticker("live", ticker);
      return report !== undefined && mayRead(listingOf(report.row)) ? report : undefined;
    },
  });
}
