import type { CoverageRow } from "#lib/contract/coverage";

type Covered = Pick<CoverageRow, "open_minutes" | "missing_minutes">;

/** The share of open minutes that have a kline, 0 to 1; null where it is not known or nothing was open. */
export function coveredShare({ open_minutes: open, missing_minutes: missing }: Covered): number | null {
  return open === null || missing === null || open === 0 ? null : 1 - missing / open;
}

/** A share in percent. It is rounded down, so that only what is complete is called 100%. */
export function coveredText(share: number | null): string {
  return share === null ? "–" : `${share === 1 ? "100" : (Math.floor(share * 1_000) / 10).toFixed(1)}%`;
}
