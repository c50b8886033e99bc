import { z } from "zod";
import type { Clock } from "#lib/clock";
import { KEY_LIFETIME_DEFAULT_S, KEY_NAME_MAX_CHARACTERS, KEY_ORIGINS_MAX_COUNT } from "#lib/contract/limits";
import { Scope, Venue } from "#lib/contract/primitives";
import { Fault, requireValid } from "#lib/fault";
import { SECOND_MS } from "#lib/units";
import { parseOrigin } from "./origin";

const Origin = z.string().transform((text, ctx) => {
  const origin = parseOrigin(text);
  if (origin !== undefined) return origin;
  ctx.addIssue("must be scheme://host[:port] or https://*.example.com.");
  return z.NEVER;
});

const unique = <Value>(values: Value[]) => [...new Set(values)];

/** What is chosen when a key is made, apart from its expiry. */
export const KeySettings = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(KEY_NAME_MAX_CHARACTERS)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must not contain control characters."),
  venue: Venue,
  scopes: z.array(Scope).min(1).transform(unique),
  origins: z.array(Origin).max(KEY_ORIGINS_MAX_COUNT, `takes at most ${KEY_ORIGINS_MAX_COUNT} origins.`).transform(unique),
});

const Changes = KeySettings.omit({ venue: true }).partial();
type Parsed = z.output<typeof Changes>;

/** What of it may be changed later, not yet checked; what is absent stays. */
export type KeySettingsChange = { readonly [Name in keyof Parsed]?: unknown };

/**
 * The settings that a change names.
 * @throws Fault invalid_parameter naming the setting that is refused
 */
export function changedSettings(change: KeySettingsChange): { [Name in keyof Parsed]: Exclude<Parsed[Name], undefined> } {
  const given = Object.entries(requireValid(Changes, change)).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/**
 * The expiry of a new key: the one chosen, null for never, else a year from now.
 * @throws Fault invalid_parameter for one that has passed
 */
export function expiryOf(chosen: Date | null | undefined, clock: Clock): Date | null {
  if (chosen === undefined) return new Date(clock.now() + KEY_LIFETIME_DEFAULT_S * SECOND_MS);
  if (chosen === null || chosen.getTime() > clock.now()) return chosen;
  throw new Fault("invalid_parameter", { parameter: "expires_at", detail: "`expires_at` must be in the future." });
}
