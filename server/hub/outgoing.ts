import type { PushMessage, ServerMessage, StreamEncoding } from "#lib/contract/stream";
import { toPublic } from "#lib/domain/kline";
import type { MarketEvent } from "#server/events/event";
import { type Payload, WRITERS } from "./encodings";

/** A message for one or many connections of one encoding; it is written once. */
export interface Outgoing {
  readonly type: ServerMessage["type"];
  readonly encoding: StreamEncoding;
  readonly payload: Payload;
  /** Length of the payload in bytes. */
  readonly bytes: number;
  /** The market record it carries; undefined for other messages. */
  readonly event: MarketEvent | undefined;
  /** Earlier records that were merged into it. */
  readonly merged: number;
  /** True for a record sent on subscribe; the sequence continues from it. */
  readonly baseline: boolean;
  /** What each transport sends for it, created on first use. */
  frame: Buffer | undefined;
  packet: string | undefined;
}

type PushEvent = PushMessage["event"];

/** The message of a market record; `data` is what REST returns, in JSON byte for byte. */
function pushMessage(event: MarketEvent, kind: PushEvent, merged: number): PushMessage {
  const { type, record, epoch, seq } = event;
  const kline = type === "kline";
  return {
    type,
    event: kind,
    ticker: record.ticker,
    ...(kline && { timeframe: event.record.timeframe }),
    epoch,
    seq,
    ...(merged > 0 && { merged }),
    ...(kline && { closed: event.closed }),
    data: kline ? toPublic(event.record) : record,
  } as PushMessage;
}

function written(
  message: ServerMessage,
  encoding: StreamEncoding,
  { event, merged = 0, baseline = false }: Partial<Pick<Outgoing, "event" | "merged" | "baseline">> = {},
): Outgoing {
  const writer = WRITERS[encoding];
  const payload = writer.write(message);
  const bytes = writer.bytes(payload);
  return { type: message.type, encoding, payload, bytes, event, merged, baseline, frame: undefined, packet: undefined };
}

function kindOf(event: MarketEvent): PushEvent {
  if (event.type !== "kline" || !event.corrected) return "update";
  return event.removed ? "removal" : "correction";
}

/** The next record of its topic; the first of a new epoch is sent as a snapshot, from which the sequence continues. */
export function updateOf(event: MarketEvent, encoding: StreamEncoding): Outgoing {
  if (event.restored) return baselineOf(event, encoding);
  const { merged = 0 } = event;
  return written(pushMessage(event, kindOf(event), merged), encoding, { event, merged });
}

/**
 * The same record with `merged` earlier records merged into it. It is written when it is sent: a slow connection replaces most
 * of them before that.
 */
export function mergedOf(message: Outgoing, event: MarketEvent, merged: number): Outgoing {
  const { type, encoding, bytes } = message;
  const writer = WRITERS[encoding];
  let payload: Payload | undefined;
  return {
    type,
    encoding,
    get payload() {
      payload ??= writer.write(pushMessage(event, kindOf(event), merged));
      return payload;
    },
    bytes: bytes - writer.mergedBytes(message.merged) + writer.mergedBytes(merged),
    event,
    merged,
    baseline: false,
    frame: undefined,
    packet: undefined,
  };
}

/** The current record of a topic, as it is sent on subscribe. */
export function baselineOf(event: MarketEvent, encoding: StreamEncoding): Outgoing {
  return written(pushMessage(event, "snapshot", 0), encoding, { event, baseline: true });
}

/** Any message but a market record. */
type ControlMessage = Exclude<ServerMessage, PushMessage>;

/** Any other message. */
export function controlOf(message: ControlMessage, encoding: StreamEncoding): Outgoing {
  return written(message, encoding);
}

/** A message for connections of any encoding: written once in each that is asked for. */
export type Shared = (encoding: StreamEncoding) => Outgoing;

/** Any other message, for many connections. */
export function sharedOf(message: ControlMessage): Shared {
  const outgoing: Partial<Record<StreamEncoding, Outgoing>> = {};
  return (encoding) => {
    outgoing[encoding] ??= controlOf(message, encoding);
    return outgoing[encoding];
  };
}
