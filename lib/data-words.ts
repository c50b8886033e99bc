import type { DataSuspects, DataYear, GapReason, SourceKind } from "#lib/contract/portal-data";

/** Why minutes in which the market was open have no kline, or one that lacks ticks. */
export const GAP_REASONS: Readonly<Record<GapReason, string>> = {
  missing: "Nothing is stored",
  struck: "An operator struck the klines out",
  feed: "The feed was lost or silent",
  stopped: "The service did not run",
  refused: "The service refused what was pushed",
};

/** What a source is called. */
export const SOURCE_NAMES: Readonly<Record<SourceKind, string>> = {
  feed: "Feed",
  import: "Imported files",
  repair: "Repairs from a provider",
  push: "Pushed klines",
  correction: "Corrections by an operator",
  formula: "Formula of the sandbox",
};

const countText = (count: number) => Math.round(count).toLocaleString("en-US");

/** A place of stored klines that may be wrong, in words. */
export interface SuspiciousPlace {
  readonly kind: "Spike" | "Level jump" | "Frozen" | "Closed hours" | "Lacks ticks";
  /** Open times of the first and the last kline, ISO 8601. */
  readonly at: string;
  readonly to: string;
  readonly values: string;
  readonly why: string;
}

/** The suspicious places of a year: those of its prices, klines that lack ticks, and klines in closed hours. */
export function suspiciousPlaces(
  { spikes, frozen, jumps }: DataSuspects,
  { closed_ranges, lacking }: DataYear,
  digits: number,
): SuspiciousPlace[] {
  const price = (value: number) => value.toFixed(digits);
  return [
    ...spikes.map(
      ({ at, open, high, low, close, before, after, ratio }): SuspiciousPlace => ({
        kind: "Spike",
        at,
        to: at,
        values: [open, high, low, close].map(price).join(" "),
        why: `${countText(ratio)} times the usual range beyond ${price(before)} before and ${price(after)} after`,
      }),
    ),
    ...jumps.map(
      ({ at, before, open, ratio }): SuspiciousPlace => ({
        kind: "Level jump",
        at,
        to: at,
        values: `${price(before)} → ${price(open)}`,
        why: `${countText(ratio)} times the usual range from the close before, and the prices stay there`,
      }),
    ),
    ...frozen.map(
      ({ from, to, rows, close }): SuspiciousPlace => ({
        kind: "Frozen",
        at: from,
        to,
        values: price(close),
        why: `${countText(rows)} minutes with the same prices`,
      }),
    ),
    ...lacking.map(
      ({ from, to, rows, reason }): SuspiciousPlace => ({
        kind: "Lacks ticks",
        at: from,
        to,
        values: `${countText(rows)} ${rows === 1 ? "kline" : "klines"}`,
        why: `${GAP_REASONS[reason]}; a repair or an import mends them`,
      }),
    ),
    ...closed_ranges.map(
      ({ from, to, rows, close }): SuspiciousPlace => ({
        kind: "Closed hours",
        at: from,
        to,
        values: price(close),
        why: `${countText(rows)} ${rows === 1 ? "kline" : "klines"} while the market was closed`,
      }),
    ),
  ];
}
