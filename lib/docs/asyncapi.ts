import { type Brand, contactOf, DEFAULT_BRAND } from "#lib/brand";
import {
  SOCKET_IO_NAMESPACE,
  SOCKET_IO_PATH,
  STREAM_METHODS,
  STREAM_PATH,
  STREAM_PROTOCOL,
  STREAM_PROTOCOLS,
  type StreamMethod,
} from "#lib/contract/stream";
import { streamTicketExample, TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { operations as restOperations } from "#lib/operations/declarations";
import { streamCloses, streamLimits } from "./asyncapi-limits";
import { JSON_MEDIA, type NamedMessage, type StreamMessages, streamMessages } from "./asyncapi-messages";
import { withNamedParts } from "./asyncapi-names";
import {
  KEY_DESCRIPTION,
  SOCKET_IO_AUTH_DESCRIPTION,
  socketIoDescription,
  streamDescription,
  TICKET_DESCRIPTION,
  websocketDescription,
} from "./asyncapi-text";
import type {
  AsyncApiChannel,
  AsyncApiDocument,
  AsyncApiOperation,
  AsyncApiSecurityScheme,
  AsyncApiServer,
} from "./asyncapi-types";
import { type JsonSchema, schemaPrinter } from "./json-schema";
import type { Reference } from "./openapi-types";

/** Version of the API, not of the software: increases with additions to v1. */
const API_VERSION = "1.0.0";
/** Revision of the Socket.IO protocol, spoken by clients since version 3. */
const SOCKET_IO_PROTOCOL_REVISION = "5";
const WEBSOCKET_BINDING_VERSION = "0.1.0";

type ChannelId = "stream" | "socketIo";

const pascal = (name: string) => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
const reference = (...path: string[]): Reference => ({ $ref: `#/${path.join("/")}` });

const SCOPE = { "x-scope": restOperations.createStreamTicket.scope };
const SECURITY_SCHEMES = {
  apiKey: { type: "http", scheme: "bearer", bearerFormat: "sw_{live|test}_…", description: KEY_DESCRIPTION, ...SCOPE },
  ticket: { type: "httpApiKey", name: "Sec-WebSocket-Protocol", in: "header", description: TICKET_DESCRIPTION, ...SCOPE },
  socketIoAuth: { type: "apiKey", in: "password", description: SOCKET_IO_AUTH_DESCRIPTION, ...SCOPE },
} satisfies Record<string, AsyncApiSecurityScheme>;

const security = (...schemes: (keyof typeof SECURITY_SCHEMES)[]) =>
  schemes.map((scheme) => reference("components", "securitySchemes", scheme));

/** The host that the document proposes where no installation is named. */
export const ASYNCAPI_DEFAULT_HOST = "localhost:3000";

function servers(host: string): Record<string, AsyncApiServer> {
  const variables = { host: { default: host, description: "Host name of this installation, with the port if needed." } };
  return {
    websocket: {
      host: "{host}",
      protocol: "wss",
      title: "WebSocket",
      description: "Use `ws` for a local server without TLS.",
      variables,
      security: security("apiKey", "ticket"),
    },
    socketIo: {
      host: "{host}",
      protocol: "socketio",
      protocolVersion: SOCKET_IO_PROTOCOL_REVISION,
      pathname: SOCKET_IO_PATH,
      title: "Socket.IO",
      description: "On the same port as the WebSocket.",
      variables,
      security: security("socketIoAuth"),
    },
  };
}

const HANDSHAKE_HEADERS: JsonSchema = {
  type: "object",
  properties: {
    Authorization: { type: "string", description: "`Bearer <api_key>`. Not needed with a ticket." },
    "Sec-WebSocket-Protocol": {
      type: "string",
      description: `\`${STREAM_PROTOCOL}\` for JSON or \`${STREAM_PROTOCOLS.msgpack}\` for MessagePack, and with a ticket also \`${TICKET_PROTOCOL_PREFIX}<ticket>\`.`,
      examples: [
        STREAM_PROTOCOL,
        STREAM_PROTOCOLS.msgpack,
        `${STREAM_PROTOCOL}, ${TICKET_PROTOCOL_PREFIX}${streamTicketExample.ticket}`,
      ],
    },
    Origin: { type: "string", description: "Sent by browsers. Must be one of the key's allowed origins." },
  },
};

/** What a client sends over a channel. */
const clientSide = (channel: ChannelId, { client, clientEvents }: StreamMessages) =>
  channel === "stream" ? client : clientEvents;

function channelMessages(channel: ChannelId, messages: StreamMessages): Record<string, Reference> {
  const all = [clientSide(channel, messages), messages.acks, messages.pushed].flatMap((group) => Object.values(group));
  return Object.fromEntries(all.map(({ id }) => [id, reference("components", "messages", id)]));
}

function channels(messages: StreamMessages): Record<ChannelId, AsyncApiChannel> {
  return {
    stream: {
      address: STREAM_PATH,
      title: "Market stream",
      summary: "Market records over a plain WebSocket.",
      description: websocketDescription(),
      servers: [reference("servers", "websocket")],
      messages: channelMessages("stream", messages),
      bindings: { ws: { method: "GET", headers: HANDSHAKE_HEADERS, bindingVersion: WEBSOCKET_BINDING_VERSION } },
    },
    socketIo: {
      address: SOCKET_IO_NAMESPACE,
      title: "Market namespace",
      summary: "The same market records over Socket.IO.",
      description: socketIoDescription(),
      servers: [reference("servers", "socketIo")],
      messages: channelMessages("socketIo", messages),
    },
  };
}

/** The operations of one channel. The answer to a method is its own ack or an error. */
function operationsOf(channel: ChannelId, messages: StreamMessages): Record<string, AsyncApiOperation> {
  const place = reference("channels", channel);
  const inChannel = ({ id }: NamedMessage) => reference("channels", channel, "messages", id);
  const suffix = channel === "stream" ? "" : "OverSocketIo";

  function received(method: StreamMethod): [string, AsyncApiOperation] {
    const sent = clientSide(channel, messages)[method];
    const { title, summary } = sent.message;
    const reply = { channel: place, messages: [messages.acks[method], messages.pushed.error].map(inChannel) };
    const operation = { action: "receive" as const, channel: place, title, summary, messages: [inChannel(sent)], reply };
    return [`receive${pascal(method)}${suffix}`, operation];
  }

  function sent([type, pushed]: [string, NamedMessage]): [string, AsyncApiOperation] {
    const { title, summary } = pushed.message;
    const operation = { action: "send" as const, channel: place, title, summary, messages: [inChannel(pushed)] };
    return [`send${pascal(type)}${suffix}`, operation];
  }

  return Object.fromEntries([...STREAM_METHODS.map(received), ...Object.entries(messages.pushed).map(sent)]);
}

/**
 * The streams as an AsyncAPI 3.0 document, generated from the contract. It describes the service, which receives what
 * clients send.
 * @param options.host host of the installation, `host[:port]`; readers of the document can replace it.
 */
export function asyncApiDocument({
  host = ASYNCAPI_DEFAULT_HOST,
  brand = DEFAULT_BRAND,
}: {
  host?: string;
  brand?: Brand;
} = {}): AsyncApiDocument {
  const printer = schemaPrinter("draft-7");
  const messages = streamMessages(printer);
  const named = Object.values(messages).flatMap((group: Record<string, NamedMessage>) => Object.values(group));
  return {
    asyncapi: "3.0.0",
    info: {
      title: `${brand.name} market streams`,
      version: API_VERSION,
      description: streamDescription(),
      ...(brand.isOwn && { contact: contactOf(brand) }),
    },
    defaultContentType: JSON_MEDIA,
    servers: servers(host),
    channels: channels(messages),
    operations: { ...operationsOf("stream", messages), ...operationsOf("socketIo", messages) },
    components: {
      messages: Object.fromEntries(named.map(({ id, message }) => [id, message])),
      schemas: withNamedParts(printer.named()),
      securitySchemes: SECURITY_SCHEMES,
    },
    "x-limits": streamLimits(),
    "x-close-codes": streamCloses(),
  };
}

/** The document as text, ending in a line feed. */
export function asyncApiText(brand = DEFAULT_BRAND): string {
  return `${JSON.stringify(asyncApiDocument({ brand }), null, 2)}\n`;
}
