import type { z } from "zod";
import { KlineLine, type KlineReceipt, type KlineRejection } from "#lib/contract/ingest-klines";
import {
  INGEST_KLINES_MAX_AGE_S,
  INGEST_KLINES_MAX_BYTES,
  INGEST_KLINES_MAX_ROWS,
  INGEST_LINE_MAX_BYTES,
  KLINE_CLOSE_DELAY_MS,
} from "#lib/contract/limits";
import type { Kline } from "#lib/domain/kline";
import { PRICES_MAX_FACTOR, roundTo } from "#lib/domain/price";
import { judgePlausible, plausibleRange } from "#lib/domain/price-ranges";
import { Fault } from "#lib/fault";
import { MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import type { Minutes } from "./coverage";
import { createReceipt, problemOfLine } from "./ingest";
import type { KlinePush, Mended, Mending } from "./mending";
import { BodyBroken, BodyTooLong, type Line, readLines } from "./ndjson";
import type { Market } from "./ports";

const PRICES: ReadonlySet<unknown> = new Set(["open", "high", "low", "close"]);

/** A venue whose minutes can be stored after the fact. */
export interface MendedMarket extends Pick<Market, "catalogue" | "timeAt"> {
  /** Stores closed M1 klines. @throws Fault service_unavailable when it cannot be done now */
  mend(klines: readonly Kline[], mending: Mending): Promise<Mended>;
}

/** The closed minutes that may be pushed at an instant (Unix ms). */
export function pushableMinutes(nowMs: number): Minutes {
  const to = Math.floor((nowMs - KLINE_CLOSE_DELAY_MS) / MINUTE_MS) * MINUTE_S;
  return { from: Math.ceil((nowMs / SECOND_MS - INGEST_KLINES_MAX_AGE_S) / MINUTE_S) * MINUTE_S, to };
}

interface Scene {
  readonly market: Pick<Market, "catalogue">;
  readonly push: KlinePush;
  /** The minutes that may be pushed. */
  readonly span: ReturnType<typeof pushableMinutes>;
  /** Minutes that earlier lines of the batch hold. */
  readonly seen: Set<string>;
}

type Fields = z.infer<typeof KlineLine>;

function judgePrices({ open, high, low, close }: Fields): boolean {
  return low <= Math.min(open, close) && high >= Math.max(open, close) && high <= low * PRICES_MAX_FACTOR;
}

/** Why a line with all fields cannot be stored; null when it can. */
function judge(line: Fields, { market, push, span, seen }: Scene): KlineRejection | null {
  const { ticker, time } = line;
  const listing = market.catalogue.find(ticker);
  if (listing === undefined || (push.tickers.length > 0 && !push.tickers.includes(ticker))) return "unknown_ticker";
  if (time % 60 !== 0) return "not_a_minute";
  if (time >= span.to) return "not_closed";
  if (time < span.from) return "too_old";
  if (!judgePrices(line) || roundTo(line.low, listing.digits) === 0) return "bad_price";
  const volume = Math.max(line.tick_volume, line.real_volume ?? 0);
  const implausible = judgePlausible(plausibleRange(listing.base, listing.quote), { low: line.low, high: line.high, volume });
  if (implausible !== null) return implausible;
  return seen.has(`${ticker}:${time}`) ? "duplicate" : null;
}

function toKline({ ticker, time, tick_volume, real_volume = null, spread = null, ...prices }: Fields, digits: number): Kline {
  return {
    type: "kline",
    ticker,
    timeframe: "M1",
    time,
    open: roundTo(prices.open, digits),
    high: roundTo(prices.high, digits),
    low: roundTo(prices.low, digits),
    close: roundTo(prices.close, digits),
    tick_volume,
    real_volume,
    spread: spread === null ? null : roundTo(spread, digits + 1),
  };
}

/** Parses a line into a kline, or into the reason why it is rejected. */
function parseLine(line: Line, scene: Scene): Kline | KlineRejection {
  if (line.text === null) return "line_too_long";
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return "malformed_line";
  }
  const parsed = KlineLine.safeParse(value);
  if (!parsed.success) {
    const onlyPrices = parsed.error.issues.every(({ code, path: [field] }) => code === "too_small" && PRICES.has(field));
    return onlyPrices ? "bad_price" : "malformed_line";
  }
  const reason = judge(parsed.data, scene);
  if (reason !== null) return reason;
  const { ticker, time } = parsed.data;
  scene.seen.add(`${ticker}:${time}`);
  return toKline(parsed.data, scene.market.catalogue.find(ticker)?.digits ?? 0);
}

/** @throws Fault payload_too_large past the limits, invalid_parameter for a body that ended early */
async function parseBody(body: AsyncIterable<Uint8Array>, scene: Scene) {
  const parsed: { readonly line: Line; readonly kline: Kline | KlineRejection }[] = [];
  try {
    for await (const lines of readLines(body, { bodyMaxBytes: INGEST_KLINES_MAX_BYTES, lineMaxBytes: INGEST_LINE_MAX_BYTES })) {
      if (parsed.length + lines.length > INGEST_KLINES_MAX_ROWS) throw new BodyTooLong();
      for (const line of lines) parsed.push({ line, kline: parseLine(line, scene) });
    }
  } catch (error) {
    if (error instanceof BodyBroken)
      throw new Fault("invalid_parameter", { detail: "The body ended early. Nothing was stored." });
    if (!(error instanceof BodyTooLong)) throw error;
    throw new Fault("payload_too_large", {
      detail: `One batch is at most ${INGEST_KLINES_MAX_ROWS} klines and ${INGEST_KLINES_MAX_BYTES} bytes. Nothing was stored.`,
      max: INGEST_KLINES_MAX_ROWS,
    });
  }
  return parsed;
}

/**
 * Stores a pushed NDJSON body of closed M1 klines. Each line is judged on its own; those that can be stored are stored
 * together, or none is.
 * @throws Fault service_unavailable when its history is being changed; invalid_parameter and payload_too_large as parseBody
 */
export async function ingestKlinesBody(
  body: AsyncIterable<Uint8Array> | null,
  market: MendedMarket,
  push: KlinePush,
  nowMs: number,
): Promise<KlineReceipt> {
  const receipt = createReceipt<KlineRejection>();
  if (body === null) return { ...receipt.result(), import: null };
  const scene = { market, push, span: pushableMinutes(market.timeAt(nowMs)), seen: new Set<string>() };
  const parsed = await parseBody(body, scene);
  const klines = parsed.map(({ kline }) => kline).filter((kline) => typeof kline !== "string");
  const { outcomes, number } = await market.mend(klines, { replace: push.replace, by: { keyId: push.keyId, label: push.label } });
  const judged = outcomes.values();
  for (const { line, kline } of parsed) {
    const outcome = typeof kline === "string" ? kline : judged.next().value;
    receipt.add(line.number, outcome, () => problemOfLine(KlineLine, line));
  }
  if (judged.next().done !== true) throw new Error("more outcomes than klines");
  return { ...receipt.result(), import: number };
}
