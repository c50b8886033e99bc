import { TOTP } from "otpauth";
import { TOTP_DIGITS, TOTP_PERIOD_S } from "#lib/contract/second-factor";
import type { User } from "#lib/generated/prisma/client";
import { SECOND_MS } from "#lib/units";
import type { UserContext } from "./context";

/** Steps before and after the current one whose codes are also valid: clocks differ, and typing takes time (RFC 6238, 5.2). */
const WINDOW_STEPS = 1;
const CODE = new RegExp(`^\\d{${TOTP_DIGITS}}$`);

const compact = (code: string) => code.replace(/\s/g, "");

/** True for a text that can only be a code of an authenticator app: any other is a recovery code. */
export function isTotpCode(code: string): boolean {
  return CODE.test(compact(code));
}

/** The generator of a secret in base32, named as an app shows it: by the service and the address. SHA-1 is the one algorithm that every app supports. */
export function totpOf(secret: string, email: string, issuer: string): TOTP {
  return new TOTP({ issuer, label: email, secret, digits: TOTP_DIGITS, period: TOTP_PERIOD_S });
}

/**
 * Uses up a code of a user's authenticator app: neither it nor an older one is accepted again, not even at the same moment.
 * Returns its time step; undefined for a wrong or used code.
 */
export async function acceptTotp(
  { db, clock, sealer, brand }: UserContext,
  { id, email, totpSecret }: Pick<User, "id" | "email" | "totpSecret">,
  code: string,
): Promise<number | undefined> {
  const secret = totpSecret === null ? undefined : sealer.open(totpSecret, id);
  if (secret === undefined) return undefined;
  const totp = totpOf(secret, email, brand.name);
  const timestamp = clock.now();
  const delta = totp.validate({ token: compact(code), timestamp, window: WINDOW_STEPS });
  if (delta === null) return undefined;
  const totpStep = Math.floor(timestamp / (TOTP_PERIOD_S * SECOND_MS)) + delta;
  const { count } = await db.prisma.user.updateMany({ where: { id, totpStep: { lt: totpStep } }, data: { totpStep } });
  return count === 1 ? totpStep : undefined;
}
