import type { Attempts } from "#lib/access/limits/attempts";
import type { Sealer } from "#lib/access/sealer";
import type { SignUpRules } from "#lib/access/sign-up-rules";
import type { Brand } from "#lib/brand";
import type { User } from "#lib/generated/prisma/client";
import type { Mail } from "#lib/mail/messages";
import type { AuditEvents } from "#server/store/access/audit-events";
import type { KeyContext } from "#server/store/access/keys";
import type { PasswordStrength } from "#server/threads/password-strength";
import type { Passwords } from "./password-hash";

/** Services for managing users, their sessions and their passwords. */
export interface UserContext extends KeyContext {
  readonly rules: SignUpRules;
  /** Names the service in authenticators, too. */
  readonly brand: Pick<Brand, "name" | "keyPrefix">;
  readonly passwords: Passwords;
  readonly strength: PasswordStrength;
  readonly attempts: Attempts;
  /** Writes sign-ins, refusals and reads into the audit log. */
  readonly events: AuditEvents;
  /** Encrypts the secrets shared with authenticator apps. */
  readonly sealer: Sealer;
  /** Sends later and never throws, so that the response time does not reveal whether an address has an account. */
  readonly send: (mail: Mail) => void;
}

/** A browser that signed in to an account before. */
export interface KnownBrowser {
  readonly id: string;
  readonly userId: string;
  /** When it last signed in, in Unix milliseconds. */
  readonly sinceMs: number;
}

/** True for a browser that signed in to this user's account, unless the user's browsers were forgotten since. */
export function isKnownTo(
  known: KnownBrowser | undefined,
  user: Pick<User, "id" | "browsersForgottenAt"> | null,
): known is KnownBrowser {
  return known !== undefined && known.userId === user?.id && known.sinceMs >= (user.browsersForgottenAt?.getTime() ?? 0);
}

/** The origin of a request. */
export interface Visitor {
  /** The client's address. */
  readonly address: string;
  readonly userAgent: string;
  /** Base URL of links in emails, without a trailing slash. */
  readonly base: string;
  /** The secret this browser got when it asked for a link in an email. */
  readonly browserSecret?: string | undefined;
  /** The user who signed in here last, as a signed cookie says. */
  readonly known?: KnownBrowser | undefined;
}
