import { createClient, type PushMessage, type Stream } from "#lib/client/index";
import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";
import type { KlineMessage } from "#lib/contract/stream";
import { MINUTE_MS } from "#lib/units";
import { type Reference, TICKERS } from "./market";

/** A closed kline arrives within this time, on a busy machine too. */
const ARRIVES_MS = 10_000;

/** A client that subscribes to quotes and M1 klines of every ticker, and compares each record with the reference. */
export interface Follower {
  readonly name: string;
  /** Time of its newest quote of a ticker, Unix ms; 0 for none. */
  newestMs(ticker: string): number;
  /** Records that must not arrive. */
  readonly problems: string[];
  /** Milliseconds from each tick to the client, since the last call. */
  delays(): number[];
  /** Number of reconnects. */
  reconnects(): number;
  /**
   * Minutes of the reference that closed while it was subscribed, each reported once, that it never received as closed, or
   * received with other values. Exempt are those that closed while it was disconnected and a new epoch started: nothing is
   * replayed across epochs, and the client was notified.
   */
  missedMinutes(untilMs: number): string[];
  close(): Promise<void>;
}

interface Away {
  readonly fromMs: number;
  toMs: number;
  epochBefore: string | undefined;
  epochAfter: string | undefined;
}

/** Stores closed klines, each once per epoch and with the same values in all of them. */
function createClosedKlines(problems: string[], name: string) {
  const inEpoch = new Set<string>();
  const texts = new Map<string, string>();
  return {
    take({ epoch, data }: KlineMessage): void {
      const key = `${data.ticker} ${data.time}`;
      const text = JSON.stringify(data);
      if (inEpoch.has(`${epoch} ${key}`)) problems.push(`${name}: a closed kline came twice in ${epoch}: ${text}`);
      const known = texts.get(key);
      if (known !== undefined && known !== text) problems.push(`${name}: a closed kline changed from ${known} to ${text}`);
      inEpoch.add(`${epoch} ${key}`);
      texts.set(key, text);
    },
    text: (ticker: string, timeS: number) => texts.get(`${ticker} ${timeS}`),
  };
}

/** Opens a client at `baseUrl`; resolves when it is subscribed to everything. */
export async function startFollower(name: string, baseUrl: string, key: string, reference: Reference): Promise<Follower> {
  const problems: string[] = [];
  const newest = new Map<string, number>();
  const closed = createClosedKlines(problems, name);
  const delays: number[] = [];
  const aways: Away[] = [];
  let epoch: string | undefined;
  let away: Away | undefined;

  function onRecord(message: PushMessage): void {
    epoch = message.epoch;
    if (away !== undefined) {
      away.epochAfter = epoch;
      away.toMs = Date.now();
      away = undefined;
    }
    if (message.type === "kline" && message.closed) closed.take(message);
    if (message.type !== "quote") return;
    const { ticker, time_msc, bid, ask } = message.data;
    const sent = reference.find(ticker, time_msc);
    if (sent === undefined || sent.tick.bid !== bid || sent.tick.ask !== ask || sent.fate === "out")
      problems.push(`${name}: a quote that was never pushed: ${JSON.stringify(message)}`);
    if (time_msc < (newest.get(ticker) ?? 0))
      problems.push(`${name}: a quote older than the one before: ${JSON.stringify(message)}`);
    newest.set(ticker, time_msc);
    if (message.event === "update") delays.push(Date.now() - time_msc);
  }

  const stream: Stream = createClient({ baseUrl, key }).stream({
    onRecord,
    onGap: (gap) => problems.push(`${name}: a gap: ${JSON.stringify(gap)}`),
    onError: () => undefined,
    onClose() {
      away = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY, epochBefore: epoch, epochAfter: undefined };
      aways.push(away);
    },
  });
  const quotes = stream.subscribe({ stream: "quote", tickers: TICKERS });
  const minutes = stream.subscribe({ stream: "kline", tickers: TICKERS, timeframe: "M1" });
  await Promise.all([quotes.ready, minutes.ready]);
  const sinceMs = Date.now();
  const checked = new Set<string>();

  function isExcused(closeMs: number): boolean {
    return aways.some((one) => closeMs >= one.fromMs - ARRIVES_MS && closeMs <= one.toMs && one.epochBefore !== one.epochAfter);
  }
  return {
    name,
    problems,
    newestMs: (ticker) => newest.get(ticker) ?? 0,
    delays: () => delays.splice(0),
    reconnects: () => aways.length,
    missedMinutes(untilMs) {
      const missed: string[] = [];
      for (const ticker of TICKERS)
        for (const [time, kline] of reference.klines(ticker, "M1")) {
          const key = `${ticker} ${time}`;
          const closeMs = time * 1000 + MINUTE_MS + KLINE_CLOSE_DELAY_MS;
          if (checked.has(key) || closeMs <= sinceMs || closeMs + ARRIVES_MS >= untilMs) continue;
          checked.add(key);
          const text = closed.text(ticker, time);
          const due = kline && JSON.stringify({ type: "kline", ticker, timeframe: "M1", ...kline });
          if (text === undefined ? !isExcused(closeMs) : due !== null && text !== due)
            missed.push(`${name}: the closed kline of ${key} came as ${text}, expected ${due}`);
        }
      return missed;
    },
    async close() {
      stream.close();
      await stream.closed;
    },
  };
}
