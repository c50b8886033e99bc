import type { Clock } from "#lib/clock";
import type { PortalUser } from "#lib/contract/portal";
import { PROOF_LIFETIME_S, type UsedPasskey } from "#lib/contract/second-factor";
import { Fault } from "#lib/fault";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import type { UserContext, Visitor } from "./context";
import { type Ceremony, userOfPasskey } from "./passkeys";
import { requirePassword } from "./sign-in";

/**
 * Requires that the user of this session proved a short time ago to be its owner: a browser left alone, or a stolen cookie,
 * must not be enough for changes that give lasting access.
 * @throws Fault proof_required
 */
export function requireProof({ provedAtMs }: PortalUser, clock: Clock): void {
  if (clock.now() - provedAtMs < PROOF_LIFETIME_S * SECOND_MS) return;
  throw new Fault("proof_required", {
    detail: `Confirm it's you: this change needs your password or passkey from the last ${PROOF_LIFETIME_S / MINUTE_S} minutes.`,
  });
}

/** Notes that the user of this session has just proved to be its owner. */
async function noteProof({ db, clock }: UserContext, { sessionId }: PortalUser): Promise<void> {
  const provedAt = new Date(clock.now());
  await db.prisma.portalSession.updateMany({ where: { id: sessionId, revokedAt: null }, data: { provedAt } });
}

/**
 * Proves by the password.
 * @throws Fault invalid_parameter naming `current`; rate_limited
 */
export async function proveByPassword(context: UserContext, user: PortalUser, current: string, visitor: Visitor): Promise<void> {
  await requirePassword(context, user, current, visitor);
  await noteProof(context, user);
}

/**
 * Proves by a passkey.
 * @throws Fault invalid_parameter naming `passkey` for one that is not the user's, or a challenge that was used or is too old
 */
export async function proveByPasskey(
  context: UserContext,
  user: PortalUser,
  used: UsedPasskey,
  ceremony: Ceremony | undefined,
): Promise<void> {
  if ((await userOfPasskey(context, used, ceremony)) !== user.id)
    throw new Fault("invalid_parameter", { parameter: "passkey", detail: "This is not a passkey of your account. Try again." });
  await noteProof(context, user);
}
