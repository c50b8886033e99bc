import type { Contact } from "#lib/brand";
import type { JsonSchema } from "./json-schema";

/** The parts of OpenAPI 3.1 that the service's document uses. */

/** A place that may hold a value or point to one under components. */
export interface Reference {
  $ref: string;
}

export interface OpenApiParameter {
  name: string;
  in: "query" | "header" | "path";
  description: string;
  required?: boolean;
  style?: "form";
  explode?: boolean;
  schema: JsonSchema;
  example?: unknown;
}

export interface OpenApiHeader {
  description: string;
  required?: boolean;
  schema: JsonSchema;
  example?: unknown;
}

export interface OpenApiMedia {
  schema: JsonSchema;
  example?: unknown;
  examples?: Record<string, Reference>;
  /** The schema of one line; OpenAPI 3.1 has no field of its own for line-delimited bodies. */
  "x-itemSchema"?: JsonSchema;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, OpenApiMedia>;
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  /** The scope that the key needs. Scopes of a bearer key have no place of their own that all tools accept. */
  "x-scope"?: string;
  parameters: (OpenApiParameter | Reference)[];
  requestBody?: { description: string; required: boolean; content: Record<string, OpenApiMedia> };
  responses: Record<string, OpenApiResponse>;
}

export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    description: string;
    contact: Contact;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    securitySchemes: Record<string, { type: string; scheme: string; bearerFormat: string; description: string }>;
    parameters: Record<string, OpenApiParameter>;
    headers: Record<string, OpenApiHeader>;
    examples: Record<string, { summary: string; description: string; value: unknown }>;
    schemas: Record<string, JsonSchema>;
  };
}
