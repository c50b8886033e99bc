import type { GapReason, SourceKind } from "#lib/contract/portal-data";

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
