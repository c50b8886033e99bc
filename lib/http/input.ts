import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { z } from "zod";
import { Fault, isFault, requireValid } from "#lib/fault";

/** Limit of a body that a page or the portal's API gets. */
export const BODY_MAX_BYTES = 65_536;
const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** The fault of a body past its limit. */
export function tooLarge(max = BODY_MAX_BYTES): Fault {
  return new Fault("payload_too_large", { detail: `The body must have at most ${max} bytes.`, max });
}

/**
 * Reads the body of a request as text.
 * @throws Fault payload_too_large past BODY_MAX_BYTES, without reading the rest; invalid_parameter when the body ends early
 */
export async function readBody(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > BODY_MAX_BYTES) throw tooLarge();
  if (request.body === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of Readable.fromWeb(request.body as WebStream)) {
      bytes += chunk.byteLength;
      if (bytes > BODY_MAX_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (isFault(error)) throw error;
    // The client disconnected. Nobody reads this response, but it must not be logged as an internal error.
    throw new Fault("invalid_parameter", { detail: "The body ended early." });
  }
  return Buffer.concat(chunks).toString("utf8");
}

function readQuery(request: Request): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URL(request.url).searchParams) {
    requireKept(name, value);
    if (name in query) throw new Fault("invalid_parameter", { parameter: name, detail: `\`${name}\` was given twice.` });
    query[name] = value;
  }
  return { ...query };
}

async function readJson(request: Request): Promise<unknown> {
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? ""))
    throw new Fault("invalid_parameter", { parameter: "content-type", detail: "`content-type` must be application/json." });
  const text = await readBody(request);
  if (text === "") return {};
  try {
    return JSON.parse(text, (name, value) => {
      if (typeof value === "string") requireKept(name, value);
      return value;
    });
  } catch (error) {
    if (isFault(error)) throw error;
    throw new Fault("invalid_parameter", { detail: "The body is not valid JSON." });
  }
}

/** Unpaired surrogates and U+0000, which PostgreSQL cannot store. */
const UNKEPT = /\0|\p{Surrogate}/u;

/** True when the database can store the text. */
export function isKept(text: string): boolean {
  return !UNKEPT.test(text);
}

/** @throws Fault invalid_parameter for text that cannot be stored */
function requireKept(name: string, text: string): void {
  if (!isKept(name) || !isKept(text))
    throw new Fault("invalid_parameter", {
      detail: "The text contains U+0000 or an unpaired surrogate, which cannot be stored.",
    });
}

/**
 * Parses the query of a GET or HEAD, or the JSON body of any other request.
 * @throws Fault invalid_parameter or missing_parameter naming the field; payload_too_large
 */
export async function readInput<Input>(request: Request, schema: z.ZodType<Input>): Promise<Input> {
  const reads = request.method === "GET" || request.method === "HEAD";
  const given = reads ? readQuery(request) : await readJson(request);
  return requireValid(schema, given, { whole: "The body" });
}
