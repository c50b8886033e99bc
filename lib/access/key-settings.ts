import { z } from "zod";
import type { Clock } from "#lib/clock";
import {
  eachLimit,
  KEY_ADDRESSES_MAX_COUNT,
  KEY_LIFETIME_DEFAULT_S,
  KEY_NAME_MAX_CHARACTERS,
  KEY_ORIGINS_MAX_COUNT,
  KEY_TICKERS_MAX_COUNT,
  PLAN_LIMIT_MAX,
} from "#lib/contract/limits";
import { PLAIN_TEXT, PLAIN_TEXT_WORDS, Scope, TickerParameter, Venue } from "#lib/contract/primitives";
import { Fault, requireValid } from "#lib/fault";
import { SECOND_MS } from "#lib/units";
import { parseAllowedAddress } from "./address";
import { NO_OWN_LIMITS } from "./key-limits";
import { parseOrigin, sharedOriginReason } from "./origin";

const Origin = z.string().transform((text, ctx) => {
  const origin = parseOrigin(text);
  if (origin !== undefined) return origin;
  const reason = sharedOriginReason(text);
  ctx.addIssue(`must be scheme://host[:port] or https://*.example.com.${reason === undefined ? "" : ` ${reason}`}`);
  return z.NEVER;
});

const Address = z.string().transform((text, ctx) => {
  const address = parseAllowedAddress(text);
  if (address !== undefined) return address;
  ctx.addIssue("must be an IP address, or a network such as 203.0.113.0/24 or 2001:db8::/32.");
  return z.NEVER;
});

/** Such a key belongs to a program that bills, and must not read prices. */
const BILLING: Scope = "billing:read";

const Limit = z.int().min(1).max(PLAN_LIMIT_MAX).nullable();

const unique = <Value>(values: Value[]) => [...new Set(values)];

/** What is chosen when a key is made, apart from its expiry. */
const Settings = z.object({
  name: z.string().trim().min(1).max(KEY_NAME_MAX_CHARACTERS).regex(PLAIN_TEXT, PLAIN_TEXT_WORDS),
  venue: Venue,
  scopes: z
    .array(Scope)
    .min(1)
    .transform(unique)
    .refine((scopes) => scopes.length === 1 || !scopes.includes(BILLING), `cannot combine ${BILLING} with another scope.`),
  origins: z.array(Origin).max(KEY_ORIGINS_MAX_COUNT, `takes at most ${KEY_ORIGINS_MAX_COUNT} origins.`).transform(unique),
  addresses: z
    .array(Address)
    .max(KEY_ADDRESSES_MAX_COUNT, `takes at most ${KEY_ADDRESSES_MAX_COUNT} IP addresses.`)
    .transform(unique),
  tickers: z
    .array(TickerParameter)
    .max(KEY_TICKERS_MAX_COUNT, `takes at most ${KEY_TICKERS_MAX_COUNT} tickers.`)
    .transform(unique),
  ...eachLimit(() => Limit),
  notBefore: z.date().nullable(),
});
type Settings = z.output<typeof Settings>;

/** The values that are not undefined. */
function givenOf<Values extends object>(values: Values): { [Name in keyof Values]: Exclude<Values[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

/** The settings of a key that restricts nothing. */
const UNRESTRICTED = {
  addresses: [],
  tickers: [],
  ...NO_OWN_LIMITS,
  notBefore: null,
} satisfies Partial<Settings>;

/** The name of a setting in forms. */
const formName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const FORM_NAMES = {
  place: (path: readonly PropertyKey[]) => path.map((step) => (typeof step === "string" ? formName(step) : step)),
};

/**
 * The settings of a new key. What restricts it may be absent.
 * @throws Fault invalid_parameter naming the setting that is refused
 */
export const newSettings = (input: object) => requireValid(Settings, { ...UNRESTRICTED, ...givenOf(input) }, FORM_NAMES);

/** The settings of a key that is stored, apart from its expiry. */
export function settingsOf<Row extends { readonly [Name in keyof Settings]: unknown }>(row: Row): Pick<Row, keyof Settings> {
  const names = Object.keys(Settings.shape) as (keyof Settings)[];
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, keyof Settings>;
}

/** What the audit log keeps of a key, as forms name it. */
export function auditedSettings(row: Parameters<typeof settingsOf>[0] & { readonly expiresAt: Date | null }) {
  const settings = Object.entries({ ...settingsOf(row), expiresAt: row.expiresAt });
  return Object.fromEntries(settings.map(([name, value]) => [formName(name), value]));
}

const Changes = Settings.omit({ venue: true }).partial();
type Parsed = z.output<typeof Changes>;

/** What of it may be changed later, not yet checked; what is absent stays. */
export type KeySettingsChange = { readonly [Name in keyof Parsed]?: unknown };

/**
 * The settings that a change names.
 * @throws Fault invalid_parameter naming the setting that is refused
 */
export const changedSettings = (change: KeySettingsChange) => givenOf(requireValid(Changes, change, FORM_NAMES));

interface Lifetime {
  readonly notBefore?: Date | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}

/**
 * The expiry of a new key: the one chosen, null for never, else a year after it becomes valid.
 * @throws Fault invalid_parameter for one that has passed
 */
export function expiryOf({ notBefore, expiresAt }: Lifetime, clock: Clock): Date | null {
  const nowMs = clock.now();
  if (expiresAt === undefined) return new Date(Math.max(nowMs, notBefore?.getTime() ?? 0) + KEY_LIFETIME_DEFAULT_S * SECOND_MS);
  if (expiresAt === null || expiresAt.getTime() > nowMs) return expiresAt;
  throw new Fault("invalid_parameter", { parameter: "expires_at", detail: "`expires_at` must be in the future." });
}

/**
 * Requires that a key becomes valid before it expires.
 * @throws Fault invalid_parameter
 */
export function requireLifetime({ notBefore, expiresAt }: Lifetime): void {
  if (!notBefore || !expiresAt || notBefore.getTime() < expiresAt.getTime()) return;
  throw new Fault("invalid_parameter", { parameter: "not_before", detail: "`not_before` must be before the expiry." });
}
