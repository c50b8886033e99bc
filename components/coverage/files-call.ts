import type { FileType } from "#lib/contract/files";
import { SANDBOX_FILES_MONTHS_COUNT } from "#lib/contract/limits";
import type { Venue } from "#lib/contract/primitives";
import { type Month, monthAfter, monthEndMs, monthOf, monthStartMs } from "#lib/domain/month";
import { SECOND_MS } from "#lib/units";
import type { Credential } from "../portal/credential";

/** The list of the files of an instrument as a call in the playground, which has code to read each of them; of all, or of a month. */
export function filesCall(ticker: string, type: FileType, credential: Credential, month?: Month): string {
  const query = new URLSearchParams({ op: "files", ticker, type });
  if (month !== undefined) {
    query.set("from", String(monthStartMs(month) / SECOND_MS));
    query.set("to", String(monthEndMs(month) / SECOND_MS));
  }
  // Without one, the playground begins with a live key of its reader.
  query.set("key", credential.kind === "live_page" ? credential.key.id : "demo");
  return `/playground?${query}`;
}

/** Whether a month with klines is had as a file: the sandbox makes those of its last complete months only. */
export function hasFile(venue: Venue, month: Month, nowMs: number): boolean {
  const current = monthOf(nowMs);
  return venue === "live" || (month < current && month >= monthAfter(current, -SANDBOX_FILES_MONTHS_COUNT));
}
