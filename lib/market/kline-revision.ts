import { createHash } from "node:crypto";
import { columnsOf } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";

/** 96 bits: two different windows never meet. */
const REVISION_CHARACTERS = 16;

/** A text that identifies the values of klines of one series: the same on every node, and for every window that has just these. */
export function revisionOf(klines: readonly Kline[]): string {
  const hash = createHash("sha256");
  for (const column of Object.values(columnsOf(klines))) hash.update(column);
  return hash.digest("base64url").slice(0, REVISION_CHARACTERS);
}
