import { fieldsOf, parseJson } from "#lib/client/errors";
import { judge, type Position } from "#lib/client/sequence";
import type { PushMessage, QuietTicker, ServerMessage, TickerRejection } from "#lib/contract/stream";
import { createRate, type Rate } from "../portal/rate";
import { type Note, quietNote } from "./notes";

/** Messages the log keeps; older ones are dropped and counted. */
export const LOG_MAX_ENTRIES = 500;
/** Maximum number of subscriptions that are counted; a connection allows fewer. */
const ROWS_MAX_COUNT = 1_000;

/** One message of the log. */
export interface LogEntry {
  readonly id: number;
  /** Unix milliseconds by the clock of this device. */
  readonly at: number;
  readonly direction: "sent" | "received";
  /** Its type, for example `quote` or `ack`. */
  readonly type: string;
  /** The message as transferred. */
  readonly text: string;
  /** What tells it from its neighbors: ticker and values of a record, the whole message otherwise. */
  readonly brief: string;
}

/** One subscription: its last value, and whether all of its records arrived. */
export interface TickerRow {
  readonly key: string;
  readonly ticker: string;
  readonly stream: string;
  readonly value: string;
  readonly position: Position;
  readonly records: number;
  /** Number of gaps. */
  readonly gaps: number;
  /** Number of records that replaced several because the connection was slow. */
  readonly merged: number;
  /** Records per second, over the last ten seconds. */
  readonly rate: number;
}

/** What a console shows of its connection. */
export interface StreamView {
  readonly entries: readonly LogEntry[];
  /** Messages received in total. */
  readonly received: number;
  readonly rows: readonly TickerRow[];
  /** Why subscribed tickers are quiet, one note each. */
  readonly quiet: readonly Note[];
  /** What the service refused, one sentence each; only the latest refusals. */
  readonly refused: readonly string[];
}

function valueText(message: PushMessage): string {
  if (message.type !== "kline") return `${message.data.bid} / ${message.data.ask}`;
  const { open, high, low, close } = message.data;
  return `${[open, high, low, close].join(" ")}${message.closed ? " closed" : ""}`;
}

/** A record in a line. Its JSON begins with what all records of a subscription share, and shows its values only when opened. */
const briefOf = (message: PushMessage): string => `${message.ticker} ${valueText(message)} ${message.event} #${message.seq}`;

const isPush = ({ type }: ServerMessage): boolean => type === "quote" || type === "snapshot" || type === "kline";

/** Why a ticker was rejected. */
function rejectionSentence({ ticker, detail, message, suggestion }: TickerRejection): string {
  const why = (detail ?? message.replaceAll("_", " ")).replace(/[.!?]?$/, ".");
  return `${ticker} was not accepted: ${why}${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`;
}

/** The state of one console: takes messages, keeps a limited number of them, and counts. */
interface StreamBook {
  sent(text: string, at: number): void;
  received(text: string, at: number): void;
  /** Empties the log; counters stay. */
  clear(): void;
  /** Forgets all subscriptions for a new connection. */
  restart(): void;
  /** @param at Unix milliseconds by the clock of this device, for the rates */
  view(at: number): StreamView;
}

/** Creates an empty state. */
export function createStreamBook(): StreamBook {
  let entries: LogEntry[] = [];
  let ids = 0;
  let received = 0;
  let refused: string[] = [];
  const rows = new Map<string, TickerRow>();
  const quiet = new Map<string, Note>();
  const rates = new Map<string, Rate>();

  function log(entry: Omit<LogEntry, "id">): void {
    ids += 1;
    entries.push({ id: ids, ...entry });
    if (entries.length > LOG_MAX_ENTRIES) entries = entries.slice(-LOG_MAX_ENTRIES);
  }

  function push(message: PushMessage, at: number): void {
    const timeframe = message.type === "kline" ? ` ${message.timeframe}` : "";
    const stream = `${message.type}${timeframe}`;
    const key = `${stream} ${message.ticker}`;
    const last = rows.get(key);
    if (last === undefined && rows.size >= ROWS_MAX_COUNT) return;
    const verdict = judge(last?.position, message);
    if (verdict === "stale") return;
    const rate = rates.get(key) ?? createRate();
    rates.set(key, rate);
    rate.count(at);
    if (message.event === "update") quiet.delete(message.ticker);
    rows.set(key, {
      key,
      ticker: message.ticker,
      stream,
      value: valueText(message),
      position: { epoch: message.epoch, seq: message.seq },
      records: (last?.records ?? 0) + 1,
      gaps: (last?.gaps ?? 0) + (verdict === "gap" ? 1 : 0),
      merged: (last?.merged ?? 0) + (message.merged ?? 0),
      rate: 0,
    });
  }

  function hush(tickers: readonly QuietTicker[]): void {
    for (const ticker of tickers.slice(0, ROWS_MAX_COUNT)) {
      const note = quietNote(ticker);
      if (note === undefined) quiet.delete(ticker.ticker);
      else quiet.set(ticker.ticker, note);
    }
  }

  function drop(tickers: readonly string[]): void {
    for (const [key, row] of rows)
      if (tickers.includes(row.ticker)) {
        rows.delete(key);
        rates.delete(key);
      }
    for (const ticker of tickers) quiet.delete(ticker);
  }

  function answer(message: ServerMessage): void {
    if (message.type === "error") refused = [message.data.detail];
    if (message.type === "heartbeat") {
      quiet.clear();
      hush(message.quiet);
    }
    if (message.type === "market_status") hush([{ ...message.data }]);
    if (message.type !== "ack") return;
    if (message.method === "subscribe") hush(message.data.quiet);
    if (message.method === "unsubscribe") drop(message.data.accepted);
    if (message.method === "subscribe" || message.method === "unsubscribe")
      refused = message.data.rejected.map(rejectionSentence);
  }

  const rowsAt = (at: number) => [...rows.values()].map((row) => ({ ...row, rate: rates.get(row.key)?.perSecond(at) ?? 0 }));

  return {
    sent: (text, at) => log({ direction: "sent", type: String(fieldsOf(parseJson(text)).method), text, brief: text, at }),
    received(text, at) {
      received += 1;
      const message = fieldsOf(parseJson(text)) as unknown as ServerMessage;
      const brief = isPush(message) ? briefOf(message as PushMessage) : text;
      log({ direction: "received", type: String(message.type), text, brief, at });
      if (isPush(message)) push(message as PushMessage, at);
      else answer(message);
    },
    clear() {
      entries = [];
    },
    restart() {
      rows.clear();
      rates.clear();
      quiet.clear();
      refused = [];
      received = 0;
    },
    view: (at) => ({ entries: [...entries], received, rows: rowsAt(at), quiet: [...quiet.values()], refused }),
  };
}
