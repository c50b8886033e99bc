import { createHash } from "node:crypto";
import { Secret } from "otpauth";
import type { Clock } from "#lib/clock";
import { RECOVERY_CODES_COUNT } from "#lib/contract/second-factor";
import type { Database } from "#server/store/database/db";

/** 120 bits: too many to guess, so that a fast hash suffices (OWASP ASVS 5, 6.5.2). In base32 24 letters and digits. */
const CODE_BYTES = 15;
const GROUP = /.{6}(?=.)/g;

type CodeStore = Pick<Database["prisma"], "recoveryCode">;

/** The hash of a code; case, spaces and dashes make no difference. */
const hashOf = (text: string) => new Uint8Array(createHash("sha256").update(text.toUpperCase().replace(/[\s-]/g, "")).digest());

/** Makes new recovery codes for a user, which voids the old ones. Their texts are kept nowhere. Run it inside a transaction. */
export async function issueRecoveryCodes(store: CodeStore, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES_COUNT }, () =>
    new Secret({ size: CODE_BYTES }).base32.toLowerCase().replace(GROUP, "$&-"),
  );
  await store.recoveryCode.deleteMany({ where: { userId } });
  await store.recoveryCode.createMany({ data: codes.map((code) => ({ userId, hash: hashOf(code) })) });
  return codes;
}

/** Uses up a code of a user; false when it is none, or was used before. Of two concurrent uses only one succeeds. */
export async function spendRecoveryCode(store: CodeStore, clock: Clock, userId: string, text: string): Promise<boolean> {
  const where = { userId, hash: hashOf(text), usedAt: null };
  return (await store.recoveryCode.updateMany({ where, data: { usedAt: new Date(clock.now()) } })).count === 1;
}

/** How many codes of a user are left. */
export async function countRecoveryCodes(store: CodeStore, userId: string): Promise<number> {
  return store.recoveryCode.count({ where: { userId, usedAt: null } });
}
