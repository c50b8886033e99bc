import type { KlineWindow } from "#lib/contract/kline";
import { KLINE_CLOSE_DELAY_MS, KLINES_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import type { KlineMessage, PushMessage } from "#lib/contract/stream";
import type { ClientClock } from "./clock";
import { asSpotwireError, SpotwireError } from "./errors";
import type { KlineProgress, Topic } from "./topics";

/** After this every kline before the one that just opened is closed, and its close has arrived. */
const SETTLED_AFTER_MS = KLINE_CLOSE_DELAY_MS + 1_000;
/** Klines that one recovery reads; what is older than the rest stays a gap. */
const RECOVERED_MAX_ROWS = 20_000;
/** Records of a topic that wait for its recovery. */
const HELD_MAX_RECORDS = 1_000;
/** Seconds of the timeframes that begin at multiples of their length; others follow the trading day. */
const FIXED_S: Readonly<Partial<Record<Timeframe, number>>> = { M1: 60, M5: 300, M15: 900, M30: 1_800, H1: 3_600 };

/** A kline that closed while the stream was away and was read over REST. */
export interface RecoveredKline extends KlineMessage {
  readonly recovered: true;
}

/** Reads a window of klines over REST. @throws SpotwireError */
export type ReadKlines = (
  query: {
    readonly ticker: string;
    readonly timeframe: Timeframe;
    readonly from: number;
    readonly to: number;
    readonly limit: number;
  },
  signal: AbortSignal,
) => Promise<KlineWindow>;

/** Keeps a record until the recovery is over. An open state that a newer one replaces is not kept: the newer one counts it as merged. */
export function hold(held: PushMessage[], message: PushMessage): void {
  const before = held.at(-1);
  const isOpen = (one: PushMessage | undefined) => one?.type === "kline" && one.event === "update" && !one.closed;
  const same =
    before?.epoch === message.epoch && before.data.ticker === message.data.ticker && timeOf(before) === timeOf(message);
  if (held.length > 1 && same && isOpen(before) && isOpen(message))
    held[held.length - 1] = { ...message, merged: (message.merged ?? 0) + (before.merged ?? 0) + 1 };
  else held.push(message);
}

const timeOf = (message: PushMessage) => (message.type === "kline" ? message.data.time : undefined);

/** Notes a record that is delivered. */
export function noteDelivered(progress: KlineProgress, { closed, data: { time }, event }: KlineMessage): void {
  if (event === "correction" || event === "removal") return;
  progress.closedUntil ??= time;
  if (closed) progress.closedUntil = Math.max(progress.closedUntil, time + 1);
}

/** Whether klines closed between what was delivered and this record, and were not delivered. */
export function mayHaveMissed({ closedUntil }: KlineProgress, { data: { time }, timeframe }: KlineMessage): boolean {
  if (closedUntil === undefined || time <= closedUntil) return false;
  const length = FIXED_S[timeframe];
  return length === undefined || Math.ceil(closedUntil / length) * length < time;
}

interface RecoveryOptions {
  readonly read: ReadKlines;
  readonly clock: ClientClock;
  readonly signal: AbortSignal;
  readonly deliver: (topic: Topic, message: KlineMessage) => void;
  /** Some klines could not be read. */
  readonly failed: (topic: Topic, first: KlineMessage, error: SpotwireError) => void;
  /** Takes a record that waited, as if it came now. */
  readonly release: (message: PushMessage) => void;
}

/** Reads what opened in [from, to), ascending, page by page. @throws SpotwireError */
async function* pages({ read, signal }: RecoveryOptions, { ticker, timeframe }: KlineMessage, from: number, to: number) {
  let rows = 0;
  for (let next: number | null = from; next !== null && next < to; ) {
    const page: KlineWindow = await read({ ticker, timeframe, from: next, to, limit: KLINES_MAX_LIMIT_ROWS }, signal);
    yield page.items;
    rows += page.items.length;
    if (page.next_from !== null && rows >= RECOVERED_MAX_ROWS)
      throw new SpotwireError(
        "queue_full",
        `More than ${RECOVERED_MAX_ROWS} klines of ${ticker} closed while the stream was away.`,
      );
    next = page.next_from;
  }
}

/**
 * Delivers the klines of a topic that closed while the stream was away, each once and in order, and then `first`, the record that
 * showed it, and those that came meanwhile. Never rejects.
 */
export async function recover(options: RecoveryOptions, topic: Topic, first: KlineMessage): Promise<void> {
  const { progress } = topic;
  const { ticker, timeframe, epoch, seq } = first;
  const to = first.data.time;
  const held: PushMessage[] = [first];
  progress.held = held;
  const isFollowed = () => !options.signal.aborted && topic.progress === progress && topic.followers.size > 0;
  try {
    await options.clock.wait(SETTLED_AFTER_MS, options.signal);
    for await (const items of pages(options, first, progress.closedUntil ?? to, to)) {
      if (!isFollowed()) return;
      if (held.length > HELD_MAX_RECORDS) throw new SpotwireError("queue_full", `More than ${HELD_MAX_RECORDS} records wait.`);
      // The close of the kline before the running one has come by now if the service sends it: then it is not taken from here.
      const streamed = new Set(held.map((one) => (one.type === "kline" && one.closed ? one.data.time : undefined)));
      for (const data of items) {
        if (streamed.has(data.time) || data.time >= to) continue;
        // A listener may have ended it.
        if (!isFollowed()) return;
        const recovered: RecoveredKline = {
          type: "kline",
          event: "update",
          ticker,
          timeframe,
          epoch,
          seq,
          closed: true,
          data,
          recovered: true,
        };
        options.deliver(topic, recovered);
      }
    }
  } catch (thrown) {
    if (isFollowed()) options.failed(topic, first, asSpotwireError(thrown, "Klines could not be recovered"));
  } finally {
    progress.held = undefined;
    if (isFollowed()) {
      options.deliver(topic, first);
      for (const message of held.slice(1)) options.release(message);
    }
  }
}
