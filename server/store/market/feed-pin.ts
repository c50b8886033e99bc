import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import type { Database } from "#server/store/database/db";

const VENUE = "live";

interface PinChange {
  readonly action: "feed.pin";
  readonly target: string;
  readonly before: { readonly provider: string | null };
  readonly after: { readonly provider: string | null };
}

/** What a provider is pinned with. */
export interface PinAdmin {
  readonly db: Pick<Database, "prisma" | "control">;
  readonly clock: Clock;
  /** Writes the audit entry. It is part of the change's transaction: both are stored, or neither. */
  record(transaction: Pick<Database["prisma"], "auditEntry">, change: PinChange): Promise<void>;
}

/** The provider that an operator prefers for the live venue, null without one. */
export async function readPin({ prisma }: Pick<Database, "prisma">): Promise<string | null> {
  return (await prisma.feedPin.findUnique({ where: { venue: VENUE } }))?.provider ?? null;
}

/**
 * Prefers a provider for the live venue; null releases it. Every process applies it within a second, and after a restart.
 * @param feeds what LIVE_FEED names
 * @throws Fault invalid_parameter for a provider that is not one of several
 */
export async function putPin({ db, clock, record }: PinAdmin, feeds: readonly string[], provider: string | null): Promise<void> {
  const several = feeds.length > 1 ? feeds : [];
  if (provider !== null && !several.includes(provider)) {
    const detail = several.length === 0 ? "The live venue has no second provider." : `Use one of ${several.join(", ")}.`;
    throw new Fault("invalid_parameter", { parameter: "provider", detail });
  }
  await db.prisma.$transaction(async (tx) => {
    const before = (await tx.feedPin.findUnique({ where: { venue: VENUE } }))?.provider ?? null;
    if (before === provider) return;
    await tx.feedPin.deleteMany({ where: { venue: VENUE } });
    if (provider !== null) await tx.feedPin.create({ data: { venue: VENUE, provider, pinnedAt: new Date(clock.now()) } });
    await record(tx, { action: "feed.pin", target: VENUE, before: { provider: before }, after: { provider } });
  });
  await db.control.publish({ kind: "feed" });
}
