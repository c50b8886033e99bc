import { CORRECTION_SETTLE_S, type CorrectionForm, type CorrectionMade } from "#lib/contract/portal-corrections";
import { klineAt } from "#lib/domain/columns";
import type { Listing } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import { PRICES_MAX_FACTOR, roundTo } from "#lib/domain/price";
import { judgePlausible, plausibleRange } from "#lib/domain/price-ranges";
import { Fault } from "#lib/fault";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { say, strikes } from "#server/store/history/layers";
import { lockForChange } from "#server/store/history/lock";
import { readRange } from "#server/store/history/minutes";
import { changeHistory, type HistoryAdmin } from "./import-undo";
import { storeBatch } from "./kline-batches";
import { beginWritten } from "./written-import";

type Replacement = Extract<CorrectionForm, { action: "replace" }>;

const STRUCK_SERIES = `INSERT INTO backfill_series (batch, ticker, first, last, stored, already_there, overwritten)
  VALUES ($1, $2, $3, $4, 0, 0, $5)`;

const refuse = (parameter: string, detail: string) => new Fault("invalid_parameter", { parameter, detail });
const instantOf = (time: number) => new Date(time * SECOND_MS).toISOString();

/** @throws Fault invalid_parameter for prices that cannot be a kline */
function replacementOf(listing: Listing, form: Replacement): Kline {
  const { ticker, digits } = listing;
  const { time, open, high, low, close, tick_volume, spread } = form;
  const kline: Kline = {
    type: "kline",
    ticker,
    timeframe: "M1",
    time,
    open: roundTo(open, digits),
    high: roundTo(high, digits),
    low: roundTo(low, digits),
    close: roundTo(close, digits),
    tick_volume,
    real_volume: null,
    spread: spread === null ? null : roundTo(spread, digits + 1),
  };
  if (kline.low === 0) throw refuse("low", "`low` must be a price of this instrument.");
  if (kline.low > Math.min(kline.open, kline.close)) throw refuse("low", "`low` must be the lowest of the four prices.");
  if (kline.high < Math.max(kline.open, kline.close)) throw refuse("high", "`high` must be the highest of the four prices.");
  if (kline.high > kline.low * PRICES_MAX_FACTOR)
    throw refuse("high", `\`high\` must be at most ${PRICES_MAX_FACTOR} times \`low\`.`);
  const range = plausibleRange(listing.base, listing.quote);
  const implausible = judgePlausible(range, { low: kline.low, high: kline.high, volume: tick_volume });
  if (implausible === "implausible_price") throw refuse("low", `${ticker} cannot have such a price.`);
  if (implausible !== null) throw refuse("tick_volume", "No minute has such a volume.");
  return kline;
}

/**
 * Replaces the kline of a minute of the live venue, or strikes out the stored klines of up to STRIKE_MAX_MINUTES minutes, also
 * those that the service watched itself. It is an import of its own that can be undone; until then neither feeds nor pushes
 * write to these minutes, and no file that is imported. All running servers are notified. One transaction: all of it, or nothing.
 * @throws Fault invalid_parameter for a minute that is not over, prices that cannot be a kline, a strike without a stored kline,
 * and while another command changes the same history
 */
export async function correctMinutes(
  { db, clock, record }: HistoryAdmin,
  listing: Listing,
  form: CorrectionForm,
): Promise<CorrectionMade> {
  const { ticker } = listing;
  const { time, reason } = form;
  const nowMs = clock.now();
  const end = time + (form.action === "strike" ? form.minutes : 1) * MINUTE_S;
  if ((end + CORRECTION_SETTLE_S) * SECOND_MS > nowMs)
    throw refuse("time", `A minute can be corrected ${CORRECTION_SETTLE_S} s after its end.`);
  const replacement = form.action === "replace" ? replacementOf(listing, form) : null;
  const [made] = await changeHistory(db, async (client) => {
    const busy = await lockForChange(client, ticker, "transaction");
    if (busy !== null) throw refuse("time", busy);
    const { rows } = await readRange(client, db.segments, { ticker, timeframe: "M1", from: time, to: end });
    const before = Array.from(rows.time, (_, row) => klineAt(rows, row, ticker, "M1"));
    const after = replacement === null ? [] : [replacement];
    if (replacement === null && before.length === 0) throw refuse("time", `No kline is stored at ${instantOf(time)}.`);
    const klines = replacement === null ? before : after;
    const label = `${replacement === null ? "struck out" : "corrected"}: ${reason}`;
    const number = await beginWritten(client, { label, rows: klines.length, nowMs, byOperator: true });
    const [first, last] = [klines[0]?.time ?? time, klines.at(-1)?.time ?? time];
    if (replacement === null) {
      const times = before.map((kline) => kline.time);
      const layers = times.map(() => number);
      await say(client, db.segments, { ticker, timeframe: "M1" }, strikes(times, layers, nowMs));
      await client.query(STRUCK_SERIES, [number, ticker, first, last, before.length]);
    } else await storeBatch(client, db.segments, number, after, nowMs);
    await record(client, { action: "history.correct", target: ticker, before, after: { number, reason, klines: after } });
    return [{ ticker, first, last, number, minutes: klines.length, ...(replacement === null && { struck: number }) }] as const;
  });
  const { number, minutes } = made as NonNullable<typeof made>;
  return { number, minutes };
}
