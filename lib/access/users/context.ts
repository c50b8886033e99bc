import type { KeyContext } from "#lib/access/keys";
import type { Attempts } from "#lib/access/limits/attempts";
import type { MailMessage } from "#lib/mail/messages";
import type { Passwords } from "./password-hash";

/** What users, their sessions and their passwords are managed with. */
export interface UserContext extends KeyContext {
  readonly passwords: Passwords;
  readonly attempts: Attempts;
  /** Sends later and never throws: whether an address has an account must not show in how long an answer takes. */
  readonly send: (message: MailMessage) => void;
}

/** Who asks for something. */
export interface Visitor {
  /** The client's address. */
  readonly address: string;
  readonly userAgent: string;
  /** What links in mails start with, without a slash at the end. */
  readonly base: string;
}
