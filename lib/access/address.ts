import { BlockList, isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

const IPV6_BLOCK_BITS = 64;
/** In front of an IPv4 address that is mapped into IPv6. */
const MAPPED = /^::ffff:(?=[\d.]+$)/i;
/** The first three numbers. */
const COARSE_IPV4_BITS = 24;
const COARSE_IPV6_BITS = 48;

function network(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const kind = address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${kind.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()}/${bits}`;
}

/** What counts as one client: an IPv4 address, an IPv6 /64 (one household or host has all of it), else the text itself. */
export function clientBlock(address: string): string {
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4" ? parsed.toString() : network(parsed, IPV6_BLOCK_BITS);
}

/** An address cut to what is kept of it: /24 of IPv4, /48 of IPv6; null for what is no address. */
export function coarseAddress(address: string): string | null {
  // Nearly every address, and each request without a valid key asks for its network.
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf("."))}.0/${COARSE_IPV4_BITS}`;
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  return network(parsed, parsed.kind() === "ipv4" ? COARSE_IPV4_BITS : COARSE_IPV6_BITS);
}

/**
 * An allowed address as it is stored: an address, or a network as `address/bits` with its first address, both in canonical
 * form; IPv4 mapped into IPv6 becomes IPv4. Undefined for anything else: a name, a range, an address with a zone.
 */
export function parseAllowedAddress(text: string): string | undefined {
  const [address = "", bits, ...more] = text.trim().split("/");
  if (isIP(address) === 0 || address.includes("%") || more.length > 0) return undefined;
  const parsed = ipaddr.process(address);
  if (bits === undefined) return parsed.toString();
  const isNetwork = /^\d{1,3}$/.test(bits) && Number(bits) <= (parsed.kind() === "ipv4" ? 32 : 128);
  return isNetwork ? network(parsed, Number(bits)) : undefined;
}

/** Compiles allowed addresses, as they are stored, for the request path. Without any, every address is allowed. */
export function addressFilter(entries: readonly string[]): (address: string) => boolean {
  if (entries.length === 0) return () => true;
  const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");
  // One list would take IPv4 for a part of every short IPv6 network.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const family = familyOf(address);
    if (bits === undefined) lists[family].addAddress(address, family);
    else lists[family].addSubnet(address, Number(bits), family);
  }
  return (client) => {
    const address = client.replace(MAPPED, "");
    const family = familyOf(address);
    return isIP(address) !== 0 && lists[family].check(address, family);
  };
}
