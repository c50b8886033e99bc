import type { KlineWindow } from "#lib/contract/kline";
import { KLINE_CLOSE_DELAY_MS, KLINES_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import type { KlineMessage, PushMessage } from "#lib/contract/stream";
import type { Audience } from "./audience";
import type { ClientClock } from "./clock";
import { asSpotwireError, SpotwireError } from "./errors";
import type { KlinesQuery } from "./queries";
import type { CallOptions } from "./rest";
import { type Gap, gapOf, judge } from "./sequence";
import type { RecoveredKline } from "./subscription";
import { type KlineProgress, type Topic, type Topics, topicKeyOf } from "./topics";

/** After this every kline before the one that just opened is closed, and its close has arrived. */
const SETTLED_AFTER_MS = KLINE_CLOSE_DELAY_MS + 1_000;
/** Klines that one recovery reads; what is older than the rest stays a gap. */
const RECOVERED_MAX_ROWS = 20_000;
/** Records of a topic that wait for its recovery. */
const HELD_MAX_RECORDS = 1_000;
/** Seconds of the timeframes that begin at multiples of their length; others follow the trading day. */
const FIXED_S: Readonly<Partial<Record<Timeframe, number>>> = { M1: 60, M5: 300, M15: 900, M30: 1_800, H1: 3_600 };

/** Reads a window of klines over REST. @throws SpotwireError */
type ReadKlines = (query: KlinesQuery, options: CallOptions) => Promise<KlineWindow>;

/** Keeps a record until the recovery is over. An open state that a newer one replaces is not kept: the newer one counts it as merged. */
function hold(held: PushMessage[], message: PushMessage): void {
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
function noteDelivered(progress: KlineProgress, { closed, data: { time }, event }: KlineMessage): void {
  if (event === "correction" || event === "removal") return;
  progress.closedUntil ??= time;
  if (closed) progress.closedUntil = Math.max(progress.closedUntil, time + 1);
}

/** Whether klines closed between what was delivered and this record, and were not delivered. */
function mayHaveMissed({ closedUntil }: KlineProgress, { data: { time }, timeframe }: KlineMessage): boolean {
  if (closedUntil === undefined || time <= closedUntil) return false;
  const length = FIXED_S[timeframe];
  return length === undefined || Math.ceil(closedUntil / length) * length < time;
}

interface RecordContext {
  readonly topics: Topics;
  readonly audience: Audience;
  /** The callback of the stream. */
  readonly onRecord: ((record: PushMessage) => void) | undefined;
  /** Undefined where missed klines are not read. */
  readonly read: ReadKlines | undefined;
  readonly clock: ClientClock;
  /** Aborted at the end of the stream. */
  readonly signal: AbortSignal;
}

/**
 * Makes the handler of market records: it detects gaps, drops duplicates, reads klines that closed while the stream was away, and
 * calls the followers of the record's topic.
 */
export function createRecordHandler({ topics, audience, onRecord, read, clock, signal }: RecordContext) {
  const reportGap = (gap: Gap) => audience.tell(({ onGap }) => onGap?.(gap));

  function deliver(topic: Topic, message: PushMessage): void {
    if (message.type === "kline") noteDelivered(topic.progress, message);
    for (const follower of [...topic.followers]) follower.onRecord(message);
    audience.call(() => onRecord?.(message));
  }

  /**
   * Delivers the klines of a topic that closed while the stream was away, each once and in order. Then it delivers `first`, the record
   * that revealed the gap, and the records that arrived during the recovery. Never rejects.
   */
  async function recover(readKlines: ReadKlines, topic: Topic, first: KlineMessage): Promise<void> {
    const { progress } = topic;
    const { ticker, timeframe, epoch, seq } = first;
    const to = first.data.time;
    const held: PushMessage[] = [first];
    progress.held = held;
    const isFollowed = () => !signal.aborted && topic.progress === progress && topic.followers.size > 0;
    let rows = 0;
    try {
      await clock.wait(SETTLED_AFTER_MS, signal);
      for (let from: number | null = progress.closedUntil ?? to; from !== null && from < to; ) {
        if (rows >= RECOVERED_MAX_ROWS)
          throw new SpotwireError(
            "queue_full",
            `More than ${RECOVERED_MAX_ROWS} klines of ${ticker} closed while the stream was away.`,
          );
        const query = { ticker, timeframe, from, to, limit: KLINES_MAX_LIMIT_ROWS };
        const { items, next_from }: KlineWindow = await readKlines(query, { signal });
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
          deliver(topic, recovered);
        }
        rows += items.length;
        from = next_from;
      }
    } catch (thrown) {
      if (isFollowed()) {
        audience.report(asSpotwireError(thrown, "Klines could not be recovered"));
        reportGap({ ...gapOf(topic.last ?? first, first), expected: null });
      }
    } finally {
      progress.held = undefined;
      if (isFollowed()) {
        deliver(topic, first);
        for (const message of held.slice(1)) handle(message);
      }
    }
  }

  function handle(message: PushMessage): void {
    if (typeof message.epoch !== "string" || !Number.isSafeInteger(message.seq))
      throw new SpotwireError("bad_answer", "A record has no epoch or sequence.");
    const topic = topics.find(topicKeyOf(message));
    if (topic === undefined || !topic.live) return;
    const { last, progress } = topic;
    if (progress.held !== undefined) {
      hold(progress.held, message);
      return;
    }
    const verdict = judge(last, message);
    if (verdict === "stale") return;
    topic.last = { epoch: message.epoch, seq: message.seq };
    const isBroken = last !== undefined && (verdict === "gap" || last.epoch !== message.epoch);
    const isState = message.type === "kline" && (message.event === "snapshot" || message.event === "update");
    if (last !== undefined && isState && (isBroken || progress.doubtful)) {
      progress.doubtful = false;
      const missed = mayHaveMissed(progress, message);
      if (missed && read !== undefined) {
        void recover(read, topic, message);
        return;
      }
      if (missed || (verdict === "gap" && read === undefined)) reportGap(gapOf(last, message));
    } else if (isBroken) {
      // A correction does not show which klines closed before it: the next state does.
      progress.doubtful = true;
      if (verdict === "gap") reportGap(gapOf(last, message));
    }
    deliver(topic, message);
  }
  return handle;
}
