import { fieldsOf } from "#lib/client/errors";
import type { KlineWindow } from "#lib/contract/kline";
import type { MarketStatus } from "#lib/contract/status";
import type { QuietTicker } from "#lib/contract/stream";

/** Tickers listed by name; further ones are counted. */
const NAMED_MAX_COUNT = 3;

const WORDS: Readonly<Record<string, string>> = {
  closed: "is closed",
  unknown: "has no calendar, so its hours are unknown",
  open_data_stale: "is open, but its data is stale",
  late_open_data_stale: "should be open, but has no new quote yet",
  open_data_missing: "is open, but has no quote yet",
  not_offered: "is not offered by the provider of this venue",
};

/** A notice that is no error. */
export interface Note {
  readonly text: string;
  /** When the market that it is about opens (ISO 8601); absent where that is unknown, and of a note about anything else. */
  readonly opensAt?: string;
}

/** Why a market is quiet and when it opens; undefined for an open one. */
export function quietNote({ ticker, final_display_state, reason, next_open_at }: QuietTicker): Note | undefined {
  if (final_display_state === "open") return undefined;
  const why = final_display_state === "closed" && reason !== null ? ` (${reason.replaceAll("_", " ")})` : "";
  const text = `${ticker} ${WORDS[final_display_state] ?? "has no new data"}${why}.`;
  return next_open_at === null ? { text } : { text, opensAt: next_open_at };
}

function klineNotes({ count, expected_count, ticker, incomplete = [] }: Partial<KlineWindow>): string[] {
  if (incomplete.length > 0)
    return [
      `${incomplete.length === 1 ? "1 kline lacks" : `${incomplete.length} klines lack`} ticks; “incomplete” names the open times.`,
    ];
  if (count !== 0) return [];
  if (expected_count === 0)
    return [
      `${ticker} was closed for the whole time range, or it has not begun, so there are no klines. Choose an earlier or a longer one.`,
    ];
  return [`No klines for ${ticker} in this time range. Omit “from” and “to” to get the newest ones.`];
}

function statusNotes(items: readonly MarketStatus[]): Note[] {
  const quiet = items.flatMap((item) => quietNote(item) ?? []);
  const more = quiet.length - NAMED_MAX_COUNT;
  return more > 0 ? [...quiet.slice(0, NAMED_MAX_COUNT), { text: `${more} more are not open.` }] : quiet;
}

/** Explains a surprising success: an empty range, a closed market, a ticker without a quote. */
export function notesOf(operationId: string, body: unknown): readonly Note[] {
  const { data } = fieldsOf(body);
  const { items, missing } = fieldsOf(data);
  if (operationId === "klines") return klineNotes(fieldsOf(data) as Partial<KlineWindow>).map((text) => ({ text }));
  if (operationId === "marketStatus" && Array.isArray(items)) return statusNotes(items as MarketStatus[]);
  if (Array.isArray(missing) && missing.length > 0)
    return [{ text: `No quote yet for ${missing.join(", ")}. The market status says why.` }];
  return [];
}
