import type { PushMessage, ServerMessage } from "#lib/contract/stream";
import { toPublic } from "#lib/domain/kline";
import type { MarketEvent } from "#server/events/event";

/** A message for one or many connections; its text is created once. */
export interface Outgoing {
  readonly type: ServerMessage["type"];
  /** The message as JSON. */
  readonly text: string;
  /** Length of the text in UTF-8 bytes. */
  readonly bytes: number;
  /** The market record it carries; undefined for other messages. */
  readonly event: MarketEvent | undefined;
  /** Earlier records that were merged into it. */
  readonly merged: number;
  /** True for a record sent on subscribe; the sequence continues from it. */
  readonly baseline: boolean;
  /** The encoded message of each transport, created on first use. */
  frame: Buffer | undefined;
  packet: string | undefined;
}

type PushEvent = PushMessage["event"];

/** JSON of a market record; `data` is byte for byte what REST returns. Concatenated, because only `data` needs serializing. */
function pushText(event: MarketEvent, kind: PushEvent, merged: number): string {
  const { type, record, epoch, seq } = event;
  const timeframe = type === "kline" ? `,"timeframe":"${event.record.timeframe}"` : "";
  const mergedText = merged > 0 ? `,"merged":${merged}` : "";
  const closed = type === "kline" ? `,"closed":${event.closed}` : "";
  const head = `{"type":"${type}","event":"${kind}","ticker":"${record.ticker}"${timeframe}`;
  return `${head},"epoch":"${epoch}","seq":${seq}${mergedText}${closed},"data":${JSON.stringify(type === "kline" ? toPublic(event.record) : record)}}`;
}

function pushed(event: MarketEvent, kind: PushEvent, merged: number): Outgoing {
  const text = pushText(event, kind, merged);
  const baseline = kind === "snapshot";
  // Tickers and numbers are ASCII.
  return { type: event.type, text, bytes: text.length, event, merged, baseline, frame: undefined, packet: undefined };
}

function kindOf(event: MarketEvent): PushEvent {
  if (event.type !== "kline" || !event.corrected) return "update";
  return event.removed ? "removal" : "correction";
}

/** The next record of its topic; the first of a new epoch is sent as a snapshot, from which the sequence continues. */
export function updateOf(event: MarketEvent): Outgoing {
  return event.restored ? baselineOf(event) : pushed(event, kindOf(event), event.merged ?? 0);
}

/** Bytes that the `merged` field adds to a text. */
function mergedBytes(merged: number): number {
  return merged > 0 ? `,"merged":${merged}`.length : 0;
}

/**
 * The same record with `merged` earlier records merged into it. Its text is created when it is sent: a slow connection
 * replaces most of them before that.
 */
export function mergedOf(message: Outgoing, event: MarketEvent, merged: number): Outgoing {
  const { type, bytes } = message;
  let text: string | undefined;
  return {
    type,
    get text() {
      text ??= pushText(event, kindOf(event), merged);
      return text;
    },
    bytes: bytes - mergedBytes(message.merged) + mergedBytes(merged),
    event,
    merged,
    baseline: false,
    frame: undefined,
    packet: undefined,
  };
}

/** The current record of a topic, as it is sent on subscribe. */
export function baselineOf(event: MarketEvent): Outgoing {
  return pushed(event, "snapshot", 0);
}

/** Any other message. */
export function controlOf(message: Exclude<ServerMessage, PushMessage>): Outgoing {
  const text = JSON.stringify(message);
  const bytes = Buffer.byteLength(text);
  return { type: message.type, text, bytes, event: undefined, merged: 0, baseline: false, frame: undefined, packet: undefined };
}
