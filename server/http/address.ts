import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6, type Socket } from "node:net";
import parseForwarded from "forwarded-parse";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";

/** Hops of the header that are read, counted from the nearest proxy. */
const FORWARDED_HOPS_MAX_COUNT = 20;

/** Addresses whose meaning is kept. */
const KNOWN_MAX_COUNT = 1_000;

/**
 * The address of a client that a trusted proxy names in a way that cannot be read. It is no address: all such clients share the
 * limits of one, and no list of allowed addresses has it. The proxy's own address would pass the lists that hold its network.
 */
export const UNKNOWN_ADDRESS = "unknown";

/** Proxies of which the log has said that they name no readable client. */
const TOLD_MAX_COUNT = 100;
/** What of an unreadable header is logged: a client may have written it. */
const LOGGED_MAX_CHARACTERS = 100;

/** A node with a port (Azure, IIS) or in brackets, as RFC 7239 (6) has it. An IPv6 address without brackets has no port. */
const NODE = /^(?:\[(?<ipv6>[^\]]+)\]|(?<ipv4>[\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/;
const QUOTED = /^"(.*)"$/;
/** Names an interface of the machine that saw the address, and no other host. */
const ZONE = /%.*$/;
/** An element with two would be read differently by each program. */
const FOR = /(?:^|;)\s*for\s*=/gi;

/** An address in canonical form, and whether it is a trusted proxy's. */
interface Hop {
  readonly address: string;
  readonly isTrusted: boolean;
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function withoutZone(address: string): string {
  return address.replace(ZONE, "");
}

/** An address in canonical form: IPv4 mapped into IPv6 becomes IPv4, and a zone is dropped. Undefined for an invalid address. */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Nearly every address. The package also takes "1" for one.
  if (isIPv4(text)) return new ipaddr.IPv4(text.split(".").map(Number));
  const bare = withoutZone(text);
  return isIPv6(bare) ? ipaddr.process(bare) : undefined;
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

/** The address in a node of a header: without quotes, brackets and port. A text that is no node stays as it is. */
function addressIn(node: string): string {
  const text = node.trim().replace(QUOTED, "$1");
  const { ipv6, ipv4 } = NODE.exec(text)?.groups ?? {};
  // What is kept by this text must not have a part of any length.
  return withoutZone(ipv6 ?? ipv4 ?? text);
}

/** The node in an element of Forwarded. Empty for one that is malformed, or names none or several. */
function nodeIn(element: string): string {
  if (element.match(FOR)?.length !== 1) return "";
  try {
    return parseForwarded(element.trim())[0]?.for ?? "";
  } catch {
    return "";
  }
}

interface AddressOptions {
  readonly env: Pick<Env, "TRUSTED_PROXIES" | "FORWARDED_HEADER">;
  readonly log: Pick<Logger, "warn">;
}

/**
 * Creates the reader of client addresses. The header counts only when a trusted proxy sent it: the client is the last address in
 * the chain that is not a trusted proxy, so a client cannot choose its own. Of the two headers only FORWARDED_HEADER is read: a
 * proxy sets one and passes on what a client writes in the other. Which one it sets cannot be told from a request, because a client
 * can add a header and make some proxies drop theirs (by naming it in Connection).
 * @returns UNKNOWN_ADDRESS where a trusted proxy names a client that cannot be read, or names it in the other header
 * @throws Error naming an entry that is neither an address nor a CIDR range.
 */
export function createAddressReader({ env, log }: AddressOptions): (request: IncomingMessage) => string {
  const { TRUSTED_PROXIES: trustedProxies, FORWARDED_HEADER: header } = env;
  const trusted = trustIn(trustedProxies);
  const known = new LRUCache<string, Hop>({ max: KNOWN_MAX_COUNT });
  const told = new LRUCache<string, true>({ max: TOLD_MAX_COUNT });
  const other = header === "forwarded" ? "x-forwarded-for" : "forwarded";

  /** Undefined for an invalid address. Parsing one costs more than verifying a key, and proxies and clients come again. */
  function read(text: string): Hop | undefined {
    const kept = known.get(text);
    if (kept !== undefined) return kept;
    const address = parse(text);
    if (address === undefined) return undefined;
    const hop = { address: address.toString(), isTrusted: trusted(address) };
    known.set(text, hop);
    return hop;
  }

  function unknown(proxy: string, text: string, reason: string): string {
    // Once for each proxy: it is wrong for all its clients, or a client writes what it likes.
    if (!told.has(proxy)) log.warn({ proxy, [header]: text.slice(-LOGGED_MAX_CHARACTERS) }, reason);
    told.set(proxy, true);
    return UNKNOWN_ADDRESS;
  }

  return ({ socket, headers }) => {
    const peerText = socket.remoteAddress ?? "";
    // The most common case, on the hot path of every request.
    if (trustedProxies.length === 0) return peerText.startsWith("::ffff:") ? peerText.slice(7) : withoutZone(peerText);
    let client = read(peerText);
    if (client === undefined) return peerText;
    if (!client.isTrusted) return client.address;
    const proxy = client.address;
    const text = String(headers[header] ?? "");
    if (text === "") {
      if (headers[other] === undefined) return proxy;
      const reason = `a proxy of TRUSTED_PROXIES sends the header ${other}, and not ${header}: set FORWARDED_HEADER to the one that it sets`;
      return unknown(proxy, text, reason);
    }
    // Also Forwarded is cut at each comma, in quotes or not: an open quote of the client must not hide what the proxy appended.
    const hops = text.split(",").slice(-FORWARDED_HOPS_MAX_COUNT);
    while (client.isTrusted && hops.length > 0) {
      const entry = hops.pop() ?? "";
      const hop = read(addressIn(header === "forwarded" ? nodeIn(entry) : entry));
      if (hop === undefined)
        return unknown(proxy, entry, "a proxy of TRUSTED_PROXIES names a client whose address cannot be read");
      client = hop;
    }
    return client.address;
  };
}
