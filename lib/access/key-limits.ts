import { eachLimit, type PlanLimits } from "#lib/contract/limits";

/** Limits of one key; null where it has none of its own. The smaller of the key's limit and its plan's limit applies. */
export type KeyLimits = { readonly [Name in keyof PlanLimits]: number | null };

/** The limits that apply: of each, the smaller one. */
export const smallerLimits = (plan: PlanLimits, own: KeyLimits): PlanLimits =>
  eachLimit((name) => Math.min(plan[name], own[name] ?? plan[name]));

/** Limits of a key that has none of its own. */
export const NO_OWN_LIMITS: KeyLimits = eachLimit(() => null);
