import type { IncomingMessage } from "node:http";
import { isIPv4, type Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** Hops of X-Forwarded-For that are read, counted from the nearest proxy. */
const FORWARDED_HOPS_MAX_COUNT = 20;

/** Addresses whose meaning is kept. A longer text, which zones and zeros can make of one, is read each time. */
const KNOWN_MAX_COUNT = 1_000;
const KNOWN_MAX_CHARACTERS = 45;

/** An address in canonical form, and whether it is a trusted proxy's. */
interface Hop {
  readonly address: string;
  readonly isTrusted: boolean;
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** An address in canonical form: IPv4 mapped into IPv6 becomes IPv4. Undefined for an invalid address. */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Nearly every address. The package tries all notations of a text, three times over.
  if (isIPv4(text)) return new ipaddr.IPv4(text.split(".").map(Number));
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function parseRange(text: string): Range {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** The remote address of a connection, in canonical form. */
export function peerOf({ socket }: { readonly socket: Pick<Socket, "remoteAddress"> }): string {
  const peer = socket.remoteAddress ?? "";
  return parse(peer)?.toString() ?? peer;
}

/**
 * Compiles the trusted proxies.
 * @throws Error naming an entry that is neither an address nor a CIDR range
 */
function trustIn(trustedProxies: readonly string[]): (address: ipaddr.IPv4 | ipaddr.IPv6) => boolean {
  const ranges = trustedProxies.map((entry) => {
    try {
      return parseRange(entry);
    } catch {
      throw new Error(`TRUSTED_PROXIES: "${entry}" is neither an address nor a CIDR range`);
    }
  });
  return (address) => ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}

/** Says whether the peer of a connection is a trusted proxy. */
export function createProxyCheck(trustedProxies: readonly string[]): (peer: string) => boolean {
  const trusted = trustIn(trustedProxies);
  return (peer) => {
    const address = parse(peer);
    return address !== undefined && trusted(address);
  };
}

/**
 * Creates the reader of client addresses. X-Forwarded-For counts only when a trusted proxy sent it: the client is the last
 * address in the chain that is not a trusted proxy, so a client cannot choose its own.
 * @throws Error naming an entry that is neither an address nor a CIDR range.
 */
export function createAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = trustIn(trustedProxies);
  const known = new LRUCache<string, Hop>({ max: KNOWN_MAX_COUNT });

  /** Undefined for an invalid address. Parsing one costs more than verifying a key, and proxies and clients come again. */
  function read(text: string): Hop | undefined {
    const kept = known.get(text);
    if (kept !== undefined) return kept;
    const address = parse(text);
    if (address === undefined) return undefined;
    const hop = { address: address.toString(), isTrusted: trusted(address) };
    if (text.length <= KNOWN_MAX_CHARACTERS) known.set(text, hop);
    return hop;
  }

  return (request) => {
    const peerText = request.socket.remoteAddress ?? "";
    // The most common case, on the hot path of every request.
    if (trustedProxies.length === 0) return peerText.startsWith("::ffff:") ? peerText.slice(7) : peerText;
    let client = read(peerText);
    if (client === undefined) return peerText;
    const header = request.headers["x-forwarded-for"];
    if (header === undefined || header.length === 0) return client.address;
    const hops = (Array.isArray(header) ? header.join(",") : header).split(",").slice(-FORWARDED_HOPS_MAX_COUNT);
    while (client.isTrusted && hops.length > 0) {
      const hop = read((hops.pop() ?? "").trim());
      if (hop === undefined) break;
      client = hop;
    }
    return client.address;
  };
}
