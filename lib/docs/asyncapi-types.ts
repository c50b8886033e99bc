import type { Contact } from "#lib/brand";
import type { JsonSchema } from "./json-schema";
import type { Reference } from "./openapi-types";

/** The parts of AsyncAPI 3.0 that the service's document uses. */

export interface AsyncApiServer {
  host: string;
  protocol: string;
  protocolVersion?: string;
  pathname?: string;
  title: string;
  description: string;
  variables: Record<string, { default: string; description: string }>;
  /** Alternatives: one of them is enough. */
  security: Reference[];
}

interface AsyncApiExample {
  name: string;
  summary: string;
  payload: unknown;
}

export interface AsyncApiMessage {
  /** The value of `method` or `type`; over Socket.IO the event. */
  name: string;
  title: string;
  summary: string;
  description: string;
  contentType: string;
  /** Where the client's own id is found, in a message and in its answer. */
  correlationId?: { location: string; description: string };
  payload: JsonSchema;
  examples: AsyncApiExample[];
}

export interface AsyncApiChannel {
  address: string;
  title: string;
  summary: string;
  description: string;
  servers: Reference[];
  messages: Record<string, Reference>;
  bindings?: { ws: { method: "GET"; headers: JsonSchema; bindingVersion: string } };
}

/** Seen from the service: it receives what a client sends. */
export interface AsyncApiOperation {
  action: "send" | "receive";
  channel: Reference;
  title: string;
  summary: string;
  messages: Reference[];
  reply?: { channel: Reference; messages: Reference[] };
}

export interface AsyncApiSecurityScheme {
  type: string;
  description: string;
  scheme?: string;
  bearerFormat?: string;
  name?: string;
  in?: string;
  "x-scope": string;
}

/** A number of the stream, and which way it does not move within v1. */
export interface StreamLimit {
  value: number;
  within_v1: "not_lowered" | "not_raised";
  description: string;
}

/** How a connection may end. `reason` is what the close frame says; absent where the WebSocket protocol itself closes. */
export interface StreamClose {
  code: number;
  reason?: string;
  after: "retry" | "terminal";
  meaning: string;
}

export interface AsyncApiDocument {
  asyncapi: string;
  info: { title: string; version: string; description: string; contact?: Contact };
  defaultContentType: string;
  servers: Record<string, AsyncApiServer>;
  channels: Record<string, AsyncApiChannel>;
  operations: Record<string, AsyncApiOperation>;
  components: {
    messages: Record<string, AsyncApiMessage>;
    schemas: Record<string, JsonSchema>;
    securitySchemes: Record<string, AsyncApiSecurityScheme>;
  };
  "x-limits": Record<string, StreamLimit>;
  "x-close-codes": StreamClose[];
}
