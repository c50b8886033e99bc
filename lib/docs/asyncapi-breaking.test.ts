import { describe, expect, test } from "vitest";
import { asyncApiDocument } from "./asyncapi";
import { breakingStreamChanges } from "./asyncapi-breaking";
import type { AsyncApiDocument, AsyncApiMessage, AsyncApiOperation } from "./asyncapi-types";
import type { JsonSchema } from "./json-schema";
import type { Reference } from "./openapi-types";

type Change = (document: AsyncApiDocument) => void;

/** Throws where a path into the document is wrong, so that a case cannot pass by changing nothing. */
function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not in the document");
  return value;
}

const operation = (document: AsyncApiDocument, id: string): AsyncApiOperation => found(document.operations[id]);
const message = (document: AsyncApiDocument, id: string): AsyncApiMessage => found(document.components.messages[id]);
const schema = (document: AsyncApiDocument, id: string): JsonSchema => found(document.components.schemas[id]);
const field = (document: AsyncApiDocument, id: string, name: string): JsonSchema =>
  found(schema(document, id).properties?.[name]);
const limit = (document: AsyncApiDocument, name: string) => found(document["x-limits"][name]);
const close = (document: AsyncApiDocument, code: number) => found(document["x-close-codes"].find((entry) => entry.code === code));

/** Takes a name out of a list that must hold it. */
function remove<T>(list: T[] | undefined, name: T): void {
  const index = found(list).indexOf(name);
  if (index < 0) throw new Error("not in the list");
  found(list).splice(index, 1);
}

const today = asyncApiDocument();

function breaksOf(change: Change): string[] {
  const changed = structuredClone(today);
  change(changed);
  return breakingStreamChanges(today, changed);
}

const BREAKS: Record<string, [change: Change, sentence: RegExp]> = {
  "a removed server": [(d) => delete d.servers.socketIo, /server socketIo: was removed/],
  "another protocol": [(d) => Object.assign(found(d.servers.websocket), { protocol: "mqtt" }), /protocol was changed to mqtt/],
  "another path of Socket.IO": [(d) => Object.assign(found(d.servers.socketIo), { pathname: "/io/" }), /pathname was changed/],
  "a way to authenticate that is gone": [(d) => found(d.servers.websocket).security.pop(), /security ticket was removed/],
  "a removed channel": [(d) => delete d.channels.socketIo, /channel socketIo: was removed/],
  "another address": [(d) => Object.assign(found(d.channels.stream), { address: "/ws" }), /address was changed to \/ws/],
  "a channel on another server": [(d) => found(d.channels.stream).servers.pop(), /server websocket was removed/],
  "a message gone from a channel": [
    (d) => delete d.channels.stream?.messages.QuoteMessage,
    /channel stream: message QuoteMessage was removed/,
  ],
  "a header that is required now": [
    (d) => Object.assign(found(d.channels.stream?.bindings).ws.headers, { required: ["Origin"] }),
    /headers\.Origin: is required now/,
  ],
  "a removed operation": [(d) => delete d.operations.receivePing, /operation receivePing: was removed/],
  "an operation the other way round": [
    (d) => Object.assign(operation(d, "sendQuote"), { action: "receive" }),
    /action was changed/,
  ],
  "an operation on another channel": [
    (d) => Object.assign(operation(d, "sendQuote"), { channel: { $ref: "#/channels/socketIo" } }),
    /sendQuote: \$ref was changed/,
  ],
  "a message that is sent no more": [
    (d) => Object.assign(operation(d, "sendKline"), { messages: [] }),
    /message KlineMessage was removed/,
  ],
  "a method without its ack": [(d) => operation(d, "receiveList").reply?.messages.shift(), /reply: message ListAck was removed/],
  "a renamed event": [(d) => Object.assign(message(d, "QuoteMessage"), { name: "tick" }), /name was changed to tick/],
  "another encoding": [
    (d) => Object.assign(message(d, "QuoteMessage"), { contentType: "application/cbor" }),
    /contentType was changed/,
  ],
  "an answer that no longer bears the id": [(d) => delete message(d, "PingAck").correlationId, /location was changed to none/],
  "a removed field of a push": [(d) => delete schema(d, "QuoteMessage").properties?.seq, /QuoteMessage\.seq: field was removed/],
  "a field of a push that may be absent now": [
    (d) => remove(schema(d, "KlineMessage").required, "closed"),
    /closed: is no longer always present/,
  ],
  "a field of a push of another type": [
    (d) => Object.assign(field(d, "KlineMessage", "seq"), { type: "string" }),
    /seq: type integer is no longer/,
  ],
  "a field of a record of another type": [
    (d) => Object.assign(field(d, "Quote", "bid"), { type: "string" }),
    /QuoteMessage\.data\.bid: type/,
  ],
  "an ack whose result lost a field": [
    (d) => delete schema(d, "SubscribeAckData").properties?.rejected,
    /SubscribeAck\.data\.rejected: field was removed/,
  ],
  "another type name": [(d) => Object.assign(field(d, "Heartbeat", "type"), { const: "beat" }), /value "heartbeat" was removed/],
  "a new required field of a client's message": [
    (d) => schema(d, "SubscribeParams").required?.push("snapshot"),
    /params\.snapshot: is required now/,
  ],
  "a required field of a client's message behind a new one": [
    (d) => {
      Object.assign(found(schema(d, "SubscribeParams").properties), { depth: { type: "integer" } });
      schema(d, "SubscribeParams").required?.push("depth");
    },
    /params\.depth: is required now/,
  ],
  "a value a client may no longer send": [(d) => remove(schema(d, "StreamName").enum, "snapshot"), /"snapshot" was removed/],
  "a value behind a described reference that a client may no longer send": [
    (d) => remove(schema(d, "Timeframe").enum, "M1"),
    /receiveSubscribe SubscribeMessage\.params\.timeframe: value "M1" was removed/,
  ],
  "an id that may no longer be a text": [
    (d) => Object.assign(schema(d, "SubscribeMessageId"), { anyOf: [{ type: "integer" }] }),
    /SubscribeMessage\.id: type string is no longer possible/,
  ],
  "fewer tickers in a message": [
    (d) => Object.assign(field(d, "SubscribeParams", "tickers"), { maxItems: 50 }),
    /maxItems was lowered to 50/,
  ],
  "a parameter gone from an event of Socket.IO": [
    (d) => Object.assign(message(d, "SubscribeEvent"), { payload: { $ref: "#/components/schemas/UnsubscribeParams" } }),
    /receiveSubscribeOverSocketIo SubscribeEvent\.resume: field was removed/,
  ],
  "a limit that is no longer documented": [(d) => delete d["x-limits"].message_max_bytes, /limit message_max_bytes: was removed/],
  "a lowered limit": [(d) => Object.assign(limit(d, "messages_burst_count"), { value: 10 }), /burst_count: was lowered to 10/],
  "a raised interval": [(d) => Object.assign(limit(d, "heartbeat_interval_s"), { value: 60 }), /interval_s: was raised to 60/],
  "a promise taken back": [
    (d) => Object.assign(limit(d, "message_max_bytes"), { within_v1: "not_raised" }),
    /within_v1 was changed/,
  ],
  "a close code that is no longer documented": [(d) => remove(d["x-close-codes"], close(d, 4008)), /close 4008: was removed/],
  "a close that means another thing": [
    (d) => Object.assign(close(d, 4029), { after: "terminal" }),
    /after was changed to terminal/,
  ],
};

const ADDITIONS: Record<string, Change> = {
  nothing: () => {},
  "a new server": (d) => Object.assign(d.servers, { second: d.servers.websocket }),
  "a new way to authenticate": (d) => found(d.servers.websocket).security.push({ $ref: "#/components/securitySchemes/token" }),
  "a new channel": (d) => Object.assign(d.channels, { second: d.channels.stream }),
  "a new operation": (d) => Object.assign(d.operations, { receiveResume: d.operations.receivePing }),
  "a new message": (d) => {
    const reference: Reference = { $ref: "#/channels/stream/messages/DepthMessage" };
    Object.assign(d.components.messages, { DepthMessage: d.components.messages.QuoteMessage });
    Object.assign(found(d.channels.stream).messages, { DepthMessage: { $ref: "#/components/messages/DepthMessage" } });
    operation(d, "sendQuote").messages.push(reference);
    operation(d, "receiveList").reply?.messages.push(reference);
  },
  "a new field of a push": (d) => Object.assign(found(schema(d, "QuoteMessage").properties), { venue: { type: "string" } }),
  "a new value in an answer": (d) => field(d, "ErrorMessage", "message").enum?.push("new_error"),
  "a new optional field of a client's message": (d) =>
    Object.assign(found(schema(d, "SubscribeParams").properties), { depth: { type: "integer" } }),
  "a field a client may leave out now": (d) => remove(schema(d, "SubscribeParams").required, "tickers"),
  "a new value a client may send": (d) => schema(d, "StreamName").enum?.push("depth"),
  "more tickers in a message": (d) => Object.assign(field(d, "SubscribeParams", "tickers"), { maxItems: 200 }),
  "a raised limit": (d) => Object.assign(limit(d, "messages_burst_count"), { value: 40 }),
  "a lowered interval": (d) => Object.assign(limit(d, "heartbeat_interval_s"), { value: 10 }),
  "a new limit": (d) => Object.assign(d["x-limits"], { depth_max_count: limit(d, "messages_burst_count") }),
  "a new close code": (d) => d["x-close-codes"].push({ code: 4404, reason: "gone", after: "terminal", meaning: "Gone." }),
  "other words": (d) => Object.assign(message(d, "QuoteMessage"), { title: "Price", summary: "A price.", description: "It." }),
};

describe("a change breaks the streams of v1 when it is", () => {
  test.each(Object.entries(BREAKS))("%s", (_, [change, sentence]) => {
    expect(breaksOf(change).join("\n")).toMatch(sentence);
  });
});

describe("a change leaves the streams of v1 whole when it is", () => {
  test.each(Object.entries(ADDITIONS))("%s", (_, change) => {
    expect(breaksOf(change)).toEqual([]);
  });
});
