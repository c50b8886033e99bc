import { z } from "zod";
import { DAY_S, HOUR_S } from "#lib/units";
import {
  eachLimitField,
  KEY_ADDRESSES_MAX_COUNT,
  KEY_NAME_MAX_CHARACTERS,
  KEY_ORIGINS_MAX_COUNT,
  KEY_TICKERS_MAX_COUNT,
  PLAN_LIMIT_MAX,
  type PlanLimitField,
  ROTATION_GRACES,
  type RotationGrace,
} from "./limits";
import { ConnectRequest } from "./oauth";
import { PORTAL_SCOPES } from "./portal-scopes";
import { PLAIN_TEXT, PLAIN_TEXT_WORDS, VENUES } from "./primitives";
import type { OwnOrganisation, Role } from "./roles";

/** Numbers of the portal. Names end in the unit. */
export const PASSWORD_MIN_CHARACTERS = 12;
const PASSWORD_MAX_CHARACTERS = 200;
/** Lowest accepted score of a new password, out of 4: more than 10^8 guesses. */
export const PASSWORD_MIN_SCORE = 3;
const EMAIL_MAX_CHARACTERS = 254;
const USER_NAME_MAX_CHARACTERS = 80;
/**
 * How long a portal session lasts without use, and in any case. NIST SP 800-63B-4 allows 30 days at assurance level 1; for
 * operators, level 2: an hour without use, and a day, of which half suffices for a shift.
 */
export const PORTAL_SESSION_LIMITS_S = {
  user: { idle: 7 * DAY_S, longest: 30 * DAY_S },
  operator: { idle: HOUR_S, longest: 12 * HOUR_S },
} as const;
/** How long a browser is known as one that signed in, which strangers cannot lock out. */
export const KNOWN_BROWSER_LIFETIME_S = 365 * DAY_S;
/** Lifetime of a portal token, which the playground uses instead of a key. */
export const PORTAL_TOKEN_LIFETIME_S = 600;
/** Lifetime of the token with which pages call for a reader, in seconds: a page that streams all day opens another stream so often. */
export const PAGE_TOKEN_LIFETIME_S = 3600;
/** Readers behind one address whose pages may use all that the demo key may. More of them share it. */
export const PAGE_READERS_OF_ADDRESS_COUNT = 10;
/** Lifetime of links in emails. */
export const VERIFY_LINK_LIFETIME_S = DAY_S;
export const RESET_LINK_LIFETIME_S = 3_600;
/** How long usage is kept, for each granularity. */
export const USAGE_RETENTION_S = { minute: 172_800, hour: 7_776_000, day: 63_072_000 } as const;
export type UsageGrain = keyof typeof USAGE_RETENTION_S;
/** How long the audit log keeps who signed in, failed to, or read what ("access." entries), and who changed what. */
export const AUDIT_RETENTION_S = { access: 90 * DAY_S, change: 730 * DAY_S } as const;
/** Size of the request log of an account: at most this many requests, none older than this. */
export const REQUEST_LOG_MAX_ROWS = 100_000;
export const REQUEST_LOG_RETENTION_S = 2_592_000;
/** How long whole addresses of clients are kept; after that, /24 of IPv4 and /48 of IPv6. */
export const ADDRESS_RETENTION_S = REQUEST_LOG_RETENTION_S;
/** Page size of the request log and the audit log. */
export const LOG_PAGE_MAX_ROWS = 100;

/** A timestamp in a form. Only these years are accepted, so that a typing error is caught. */
const INSTANT_MIN_YEAR = 1970;
const INSTANT_MAX_YEAR = 2100;
export const InstantField = z.iso
  .datetime({ offset: true, error: ({ input }) => (input === "" ? "Enter a date." : undefined) })
  .refine((text) => {
    const year = new Date(text).getUTCFullYear();
    return year >= INSTANT_MIN_YEAR && year <= INSTANT_MAX_YEAR;
  }, `must be between the years ${INSTANT_MIN_YEAR} and ${INSTANT_MAX_YEAR}.`);

export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(EMAIL_MAX_CHARACTERS, "This email address is too long.")
  .pipe(z.email("Enter a valid email address."));
export const NewPassword = z
  .string()
  .min(PASSWORD_MIN_CHARACTERS, `Use at least ${PASSWORD_MIN_CHARACTERS} characters.`)
  .max(PASSWORD_MAX_CHARACTERS, `Use at most ${PASSWORD_MAX_CHARACTERS} characters.`);
/** Compared with the stored password, so any length up to the maximum is accepted. */
const CurrentPassword = z.string().min(1, "Enter your password.").max(PASSWORD_MAX_CHARACTERS);
const MailToken = z.string().min(1).max(100);
export const UserName = z
  .string()
  .trim()
  .max(USER_NAME_MAX_CHARACTERS, `Use at most ${USER_NAME_MAX_CHARACTERS} characters.`)
  .regex(PLAIN_TEXT, PLAIN_TEXT_WORDS);

/** What is said where the installation has terms, and they were not accepted. */
export const ACCEPT_TERMS = "Accept the terms to create an account.";
/** `terms`: the reader accepts them, where the installation has some. */
export const SignUpForm = z.strictObject({
  email: Email,
  password: NewPassword,
  name: UserName.optional(),
  terms: z.boolean().optional(),
});
export const SignInForm = z.strictObject({ email: Email, password: CurrentPassword });
export const ForgotForm = z.strictObject({ email: Email });
export const ResetForm = z.strictObject({
  token: MailToken,
  password: NewPassword,
  revoke_keys: z.boolean().optional(),
  unlink_providers: z.boolean().optional(),
});
/** `password` is needed in another browser than the one that requested the link, unless it is signed in to the account. */
export const VerifyForm = z.strictObject({ token: MailToken, password: CurrentPassword.optional() });
/** A link that needs nothing but to be opened, or that is looked at before. */
export const MailLinkForm = z.strictObject({ token: MailToken });
export const ProfileForm = z.strictObject({ name: UserName });
export const StrengthForm = z.strictObject({
  password: z.string().max(PASSWORD_MAX_CHARACTERS),
  email: z.string().max(EMAIL_MAX_CHARACTERS).optional(),
  name: z.string().max(USER_NAME_MAX_CHARACTERS).optional(),
});
export const PasswordForm = z.strictObject({ current: CurrentPassword, password: NewPassword });
export const EmailForm = z.strictObject({ email: Email });
export const DeleteAccountForm = z.strictObject({ confirm: Email });
/** Proves again that the user of a session is its owner. */
export const ProofForm = z.strictObject({ current: CurrentPassword });

/** A limit of a plan. */
export const PlanLimit = z.int().min(1).max(PLAN_LIMIT_MAX);

export const KeyName = z
  .string()
  .trim()
  .min(1, "Enter a name.")
  .max(KEY_NAME_MAX_CHARACTERS, `Use at most ${KEY_NAME_MAX_CHARACTERS} characters.`)
  .regex(PLAIN_TEXT, PLAIN_TEXT_WORDS);
const KeyScopes = z.array(z.enum(PORTAL_SCOPES)).min(1, "Choose at least one scope.");
const KeyOrigins = z.array(z.string().max(260)).max(KEY_ORIGINS_MAX_COUNT, `Enter at most ${KEY_ORIGINS_MAX_COUNT} origins.`);
const KeyAddresses = z
  .array(z.string().max(60))
  .max(KEY_ADDRESSES_MAX_COUNT, `Enter at most ${KEY_ADDRESSES_MAX_COUNT} IP addresses.`);
const KeyTickers = z.array(z.string().max(60)).max(KEY_TICKERS_MAX_COUNT, `Enter at most ${KEY_TICKERS_MAX_COUNT} tickers.`);
/** Null for none of its own: then only the account's limit applies. */
const KeyLimit = PlanLimit.nullable().optional();
/** What restricts a key. */
const KEY_RESTRICTIONS = {
  addresses: KeyAddresses.optional(),
  tickers: KeyTickers.optional(),
  ...eachLimitField(() => KeyLimit),
  /** Null for at once. */
  not_before: InstantField.nullable().optional(),
};
/** Null for never. Without it a new key gets the default lifetime, and a key that is changed keeps its expiry. */
const KeyExpiry = InstantField.nullable().optional();

export const CreateKeyForm = z.strictObject({
  name: KeyName,
  venue: z.enum(VENUES),
  scopes: KeyScopes,
  origins: KeyOrigins,
  ...KEY_RESTRICTIONS,
  expires_at: KeyExpiry,
});
export const ConnectForm = z.strictObject({
  request: ConnectRequest,
  venue: z.enum(VENUES),
  expires_at: z.iso.datetime({ offset: true, error: "Choose when it ends." }),
});
export const DeclineForm = z.strictObject({ request: ConnectRequest });
export const EditKeyForm = z.strictObject({
  name: KeyName.optional(),
  scopes: KeyScopes.optional(),
  origins: KeyOrigins.optional(),
  ...KEY_RESTRICTIONS,
  expires_at: KeyExpiry,
});
export const RotateKeyForm = z.strictObject({
  grace: z.enum(Object.keys(ROTATION_GRACES) as [RotationGrace, ...RotationGrace[]]),
});
export const RevokeKeyForm = z.strictObject({
  confirm: z.string().describe("The key's name, to confirm."),
  replaced: z.boolean().optional().describe("Also revokes the keys that it replaced and that still work in their grace period."),
});

/** A key as the portal shows it, with limits of its own, null for none; times are ISO 8601. */
export interface PortalKey extends Readonly<Record<PlanLimitField, number | null>> {
  readonly id: string;
  readonly name: string;
  readonly venue: (typeof VENUES)[number];
  readonly scopes: readonly string[];
  readonly origins: readonly string[];
  readonly addresses: readonly string[];
  readonly tickers: readonly string[];
  readonly prefix: string;
  readonly last4: string;
  readonly state: "scheduled" | "active" | "grace" | "expired" | "revoked";
  readonly created_at: string;
  readonly not_before: string | null;
  readonly expires_at: string | null;
  /** True for an active key whose expiry is near. */
  readonly expires_soon: boolean;
  readonly grace_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
  readonly last_used_address: string | null;
  /** Its last use after it had ended, which was refused. */
  readonly refused_at: string | null;
  readonly refused_address: string | null;
  /** Host of the agent that it was made for when the account let it connect; null for a key that somebody made. */
  readonly agent_host: string | null;
  readonly replaced_by: string | null;
}

/** The signed-in user. */
export interface PortalUser {
  readonly id: string;
  /** The organisation the user works in. */
  readonly accountId: string;
  readonly organisation: string;
  readonly role: Role;
  /** All organisations of the user, by name. */
  readonly organisations: readonly OwnOrganisation[];
  /** The organisation waits for an operator's approval. */
  readonly waiting: boolean;
  /** The organisation requires a second factor, which the user has not. */
  readonly lacksFactor: boolean;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly operator: boolean;
  readonly hasPassword: boolean;
  /** True with a passkey or an authenticator app: the password alone opens no session. */
  readonly secondFactor: boolean;
  readonly hasPasskey: boolean;
  /** The current session. */
  readonly sessionId: string;
  /** When the user of this session last proved to be its owner, in Unix milliseconds. */
  readonly provedAtMs: number;
}

/** A change of address that has been requested. */
export interface PendingEmail {
  /** The new address. */
  readonly email: string;
  /** True while the link sent to the new address has not been opened. */
  readonly new_address: boolean;
  /** True while the link sent to the current address has not been opened. */
  readonly old_address: boolean;
}

/** How hard a password is to guess. */
export interface PasswordRating {
  /** From 0 to 4. */
  readonly score: number;
  readonly accepted: boolean;
  /** What makes it easy to guess, and what helps; may be empty. */
  readonly advice: string;
}

/** A provider with which a user can sign in. */
export interface PortalIdentity {
  readonly id: string;
  readonly provider: string;
  /** URL of the service that vouches for the user. */
  readonly issuer: string;
  readonly created_at: string;
}

/** A signed-in browser, as its owner sees it. */
export interface PortalSessionInfo {
  readonly id: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly address: string | null;
  readonly user_agent: string;
}

/** One line of the request log. */
export interface RequestLogEntry {
  readonly id: string;
  readonly at: string;
  readonly key_id: string;
  readonly request_id: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: number;
  readonly latency_ms: number;
  readonly address: string;
  readonly origin: string | null;
  readonly user_agent: string;
  /** What the error said; null for a success. */
  readonly detail: string | null;
  /** What it took of the limit of its minute, that limit and what was left, as in its headers; null if it was not counted. */
  readonly cost: number | null;
  readonly limit: number | null;
  readonly remaining: number | null;
}

/** Calls in one time bucket. Latencies in milliseconds, null if there were no calls. */
export interface UsagePoint {
  readonly at: string;
  readonly calls: number;
  /** What the calls took of the limits: the sum of their X-RateLimit-Cost, without pushed ticks. */
  readonly units: number;
  readonly errors: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly connections: number;
  readonly subscriptions: number;
  readonly messages: number;
  readonly merged: number;
}

/** One line of the audit log; `before` and `after` hold what changed, never a secret. */
export interface AuditLogEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly address: string | null;
}

export const TokenForm = z.strictObject({ key_id: z.uuid() });

/** Calls of one part of a usage report. */
export interface UsageShare {
  readonly calls: number;
  readonly units: number;
  readonly errors: number;
}

/** Usage over a period: a point per bucket, including empty ones, and a breakdown, highest first: by units, and of codes by calls. */
export interface UsageReport {
  readonly grain: UsageGrain;
  readonly items: readonly UsagePoint[];
  readonly by: {
    readonly keys: readonly (UsageShare & { readonly key_id: string })[];
    readonly operations: readonly (UsageShare & { readonly operation: string })[];
    readonly codes: readonly (UsageShare & { readonly code: number })[];
  };
}

/** Account overview on the first page of the dashboard. */
export interface Overview {
  /** Email address to verify before keys can be created; null once it is verified. */
  readonly unverified_email: string | null;
  /** Whether the account may use the live venue. */
  readonly live_access: boolean;
  /** Since when it asks for that; null for one that does not, or has it. */
  readonly live_asked_at: string | null;
  /** When an operator declined that, and when it may ask again; null for one that was not declined. */
  readonly live_declined: { readonly at: string; readonly ask_again_at: string } | null;
  /** Completed onboarding steps. */
  readonly checklist: { readonly key: boolean; readonly call: boolean; readonly stream: boolean };
  /** The id of the account's key to try a call or a stream with; null without one that may. */
  readonly key_to_try: { readonly call: string | null; readonly stream: string | null };
  /** Since 00:00 UTC; `connections` counts opened connections. */
  readonly today: { readonly calls: number; readonly errors: number; readonly connections: number };
  /** Limits in force, and the remaining requests. */
  readonly limits: Readonly<Record<PlanLimitField, number>> & { readonly plan: string; readonly rest_remaining: number };
  /** Units used of the current UTC month, and those that the plan has, null for no quota. Calls beyond a hard one are refused. */
  readonly month: { readonly used: number; readonly units: number | null; readonly hard: boolean; readonly resets_at: string };
  /** The last seven days, including today. */
  readonly week: readonly UsagePoint[];
  /** Valid keys that expire within two weeks, soonest first. */
  readonly expiring: readonly PortalKey[];
}
