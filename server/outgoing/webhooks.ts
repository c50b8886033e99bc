import { Resolver } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { CLIENT_DOCUMENT_MAX_BYTES, CLIENT_DOCUMENT_TIMEOUT_MS, WEBHOOK_TIMEOUT_MS } from "#lib/contract/limits";
import { isTlsProblem } from "#lib/tls-problem";
import { SECOND_MS } from "#lib/units";
import { isPublicAddress } from "#lib/webhooks/public-address";
import { hostOf, parseReceiver, type Reach } from "#lib/webhooks/receiver";
import { signatureHeaders } from "#lib/webhooks/sign";
import { proxyFor } from "./proxy";

const HEADERS_MAX_BYTES = 8_192;
const RESOLVE = { timeout: 3_000, tries: 2 };

/** One attempt: what was answered, and what was wrong with it. */
export interface Attempt {
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** Null when it was delivered. */
  readonly problem: string | null;
}

/** A message for a receiver. */
interface Message {
  readonly url: string;
  readonly secret: string;
  readonly id: string;
  readonly body: string;
  readonly nowMs: number;
}

/** Sends a message once; never throws. */
export type Send = (message: Message, signal?: AbortSignal) => Promise<Attempt>;

interface SendOptions extends Reach {
  /** What the service calls itself to receivers. */
  readonly userAgent: string;
  /** The addresses of a name; only tests replace it. @throws when it has none */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Whether an address may be connected to; only tests replace it. */
  readonly check?: (address: string) => boolean;
  readonly timeoutMs?: number;
}

/** A document of a server outside; what is wrong, as an Error for the one who asked, when it cannot be read. */
export type ReadDocument = (url: string) => Promise<string>;

/** The same words for a name that does not exist and one that does inside the network only, which a stranger could ask for by adding webhooks. */
const NO_PUBLIC_ADDRESS = "The name of the receiver does not lead to public IP addresses.";
/** The same words however a connection failed: the reason would tell a stranger which ports of an address are open, and what answers there. */
const NO_CONNECTION = "No connection to the receiver, or no answer in HTTP.";

/** Why a message may not be sent; the text is for the owner of the webhook. */
class Refusal extends Error {
  override readonly name = "Refusal";
}

/** Asks the DNS, not the thread pool of the process, which slow names could fill. */
async function resolvePublicName(host: string): Promise<readonly string[]> {
  const resolver = new Resolver(RESOLVE);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}

/** Gives the connection these addresses and no others: a name that is resolved again could have another one. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  return (_host, options, callback) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = all;
    if (options.all) callback(null, all);
    else callback(null, first?.address ?? "", first?.family);
  };
}

interface Outgoing {
  readonly url: URL;
  /** What is posted; a GET without it. */
  readonly body?: string;
  readonly headers: Record<string, string>;
  /** Where alone it may connect to; undefined for a name that the machine, or its proxy, may resolve. */
  readonly addresses: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** The options that keep a connection to the checked addresses. A proxy would resolve the name again, so it is asked for an address. */
function pinned(url: URL, addresses: readonly string[] | undefined): RequestOptions {
  if (addresses === undefined) return {};
  if (proxyFor(url) === "") return { lookup: lookupOf(addresses) };
  return { host: addresses[0], servername: hostOf(url) };
}

/** Asks on a connection of its own, and follows no redirect. `read` says what becomes of the answer, which is then ended. */
function ask<Result>(
  { url, body, addresses, headers, signal }: Outgoing,
  read: (response: IncomingMessage) => Result | Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    const { hostname: host, port, pathname, search, protocol } = url;
    const target = {
      protocol,
      host: host.replace(/^\[|\]$/g, ""),
      port,
      path: `${pathname}${search}`,
      ...pinned(url, addresses),
    };
    const options = {
      method: body === undefined ? "GET" : "POST",
      headers: { host: url.host, ...headers },
      signal,
      agent: false,
      maxHeaderSize: HEADERS_MAX_BYTES,
    };
    const sent = request({ ...target, ...options }, (response) => {
      Promise.resolve(response)
        .then(read)
        .then(resolve, reject)
        .finally(() => sent.destroy());
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function problemOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `The receiver answered ${status}. Redirects are not followed.`;
  return `The receiver answered ${status}.`;
}

function reasonFor(error: unknown, timeoutMs: number): string {
  if (error instanceof Refusal) return error.message;
  const { name } = error as Error;
  if (name === "TimeoutError" || name === "AbortError") return `No answer within ${timeoutMs / SECOND_MS} s.`;
  if (isTlsProblem(error)) return "The certificate of the receiver is not trusted.";
  return NO_CONNECTION;
}

/**
 * Where a URL leads that a stranger chose, and the addresses that were checked; undefined for an address, and for a trusted name,
 * which is resolved as the machine does.
 * @param what is named by a refusal
 * @throws Refusal of a URL or a name that may not be reached
 */
async function reached(
  what: string,
  text: string,
  { allowedHosts, ports, resolve = resolvePublicName, check = isPublicAddress }: SendOptions,
): Promise<Pick<Outgoing, "url" | "addresses">> {
  const receiver = parseReceiver(text, { allowedHosts, ports });
  if (typeof receiver === "string") throw new Refusal(`${what} ${receiver}`);
  const { url, trusted } = receiver;
  const host = hostOf(url);
  if (trusted || isIP(host) !== 0) return { url, addresses: undefined };
  const addresses = await resolve(host);
  if (addresses.length === 0 || !addresses.every(check)) throw new Refusal(NO_PUBLIC_ADDRESS);
  return { url, addresses };
}

/** Makes the sender. A receiver that the operator did not name must have public addresses only; it is connected to at one of those. */
export function createSend(options: SendOptions): Send {
  const { userAgent, timeoutMs = WEBHOOK_TIMEOUT_MS } = options;
  return async (message, signal) => {
    const { url: text, body, secret } = message;
    try {
      const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
      // What the operator allowed may have changed since it was added.
      const receiver = await reached("The address", text, options);
      const headers = {
        ...signatureHeaders(secret, message),
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        "user-agent": userAgent,
      };
      const status = await ask({ ...receiver, body, headers, signal: limit }, ({ statusCode = 0 }) => statusCode);
      return { status, problem: problemOf(status) };
    } catch (error) {
      return { status: null, problem: reasonFor(error, timeoutMs) };
    }
  };
}

/** The text of an answer. @throws Refusal unless it is a 200 of at most so many bytes */
async function bodyOf(response: IncomingMessage): Promise<string> {
  const { statusCode = 0 } = response;
  if (statusCode !== 200) throw new Refusal(problemOf(statusCode) ?? `The receiver answered ${statusCode}, not 200.`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > CLIENT_DOCUMENT_MAX_BYTES) throw new Refusal(`It has more than ${CLIENT_DOCUMENT_MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Makes the reader of documents that strangers name: from where webhooks may be sent to alone, without redirects, in a bounded
 * time, up to a bounded length.
 */
export function createReadDocument(options: SendOptions): ReadDocument {
  const { userAgent, timeoutMs = CLIENT_DOCUMENT_TIMEOUT_MS } = options;
  return async (text) => {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const server = await reached("Its URL", text, options);
      return await ask({ ...server, headers: { accept: "application/json", "user-agent": userAgent }, signal }, bodyOf);
    } catch (error) {
      throw new Error(reasonFor(error, timeoutMs), { cause: error });
    }
  };
}
