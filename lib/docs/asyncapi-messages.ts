import { z } from "zod";
import { Ack, ClientMessage, METHOD_PARAMS, SERVER_MESSAGES, STREAM_METHODS, type StreamMethod } from "#lib/contract/stream";
import { ACK_EXAMPLES, CLIENT_EXAMPLES, type Example } from "./asyncapi-examples";
import { PUSHED_EXAMPLES, type PushedType } from "./asyncapi-examples-pushed";
import type { AsyncApiMessage } from "./asyncapi-types";
import { ACK_WORDS, CLIENT_WORDS, PUSHED_WORDS, type Words } from "./asyncapi-words";
import type { SchemaPrinter } from "./json-schema";

/** Every message of the stream is one JSON text. */
export const JSON_MEDIA = "application/json";

/** A message and its answer have the id in the same place. */
const CORRELATION = {
  location: "$message.payload#/id",
  description: "The id the client gave a message; the answer has the same id.",
};

/** A message and the name it has under components. */
export interface NamedMessage {
  readonly id: string;
  readonly message: AsyncApiMessage;
}

/** The messages of the stream by what they are for. */
export interface StreamMessages {
  /** What a client sends over the WebSocket. */
  readonly client: Readonly<Record<StreamMethod, NamedMessage>>;
  /** The same over Socket.IO: an event named like the method, its parameters as the argument. */
  readonly clientEvents: Readonly<Record<StreamMethod, NamedMessage>>;
  /** The answer to each method. */
  readonly acks: Readonly<Record<StreamMethod, NamedMessage>>;
  /** Everything else the service sends. */
  readonly pushed: Readonly<Record<PushedType, NamedMessage>>;
}

/** The name the contract gives a schema. */
function idOf(schema: z.ZodType): string {
  const id = z.globalRegistry.get(schema)?.id;
  if (id === undefined) throw new Error("A message of the contract has no name.");
  return id;
}

function byMethod<Value>(make: (method: StreamMethod) => Value): Record<StreamMethod, Value> {
  return Object.fromEntries(STREAM_METHODS.map((method) => [method, make(method)])) as Record<StreamMethod, Value>;
}

/** The alternative of a union for this method. */
export function ofMethod<Option extends { shape: { method: z.ZodLiteral<StreamMethod> } }>(
  options: readonly Option[],
  method: StreamMethod,
): Option {
  const found = options.find(({ shape }) => shape.method.value === method);
  if (found === undefined) throw new Error(`The contract has no message for ${method}.`);
  return found;
}

interface MessageParts {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly words: Words;
  readonly examples: readonly Example<unknown>[];
  readonly correlated: boolean;
}

function message({ name, schema, words, examples, correlated }: MessageParts, printer: SchemaPrinter): AsyncApiMessage {
  return {
    name,
    ...words,
    contentType: JSON_MEDIA,
    ...(correlated ? { correlationId: CORRELATION } : {}),
    payload: printer.of(schema),
    examples: [...examples],
  };
}

function clientEvent(method: StreamMethod, printer: SchemaPrinter): NamedMessage {
  const { title, summary, description } = CLIENT_WORDS[method];
  const examples = CLIENT_EXAMPLES[method].map((example) => ({ ...example, payload: example.payload.params ?? {} }));
  const words = {
    title: `${title} (Socket.IO)`,
    summary,
    description: `${description} The acknowledgement callback receives the answer.`,
  };
  return {
    id: `${method.charAt(0).toUpperCase()}${method.slice(1)}Event`,
    message: message({ name: method, schema: METHOD_PARAMS[method], words, examples, correlated: false }, printer),
  };
}

/** Every message of the contract as AsyncAPI describes it. Named schemas are collected by the printer. */
export function streamMessages(printer: SchemaPrinter): StreamMessages {
  const named = (parts: MessageParts): NamedMessage => ({ id: idOf(parts.schema), message: message(parts, printer) });
  const pushed = Object.entries(PUSHED_EXAMPLES).map(([type, examples]) => {
    const name = type as PushedType;
    const correlated = name === "error";
    return [name, named({ name, schema: SERVER_MESSAGES[name], words: PUSHED_WORDS[name], examples, correlated })];
  });
  return {
    client: byMethod((method) =>
      named({
        name: method,
        schema: ofMethod(ClientMessage.options, method),
        words: CLIENT_WORDS[method],
        examples: CLIENT_EXAMPLES[method],
        correlated: true,
      }),
    ),
    clientEvents: byMethod((method) => clientEvent(method, printer)),
    acks: byMethod((method) =>
      named({
        name: "ack",
        schema: ofMethod(Ack.options, method),
        words: ACK_WORDS[method],
        examples: ACK_EXAMPLES[method],
        correlated: true,
      }),
    ),
    pushed: Object.fromEntries(pushed) as Record<PushedType, NamedMessage>,
  };
}
