import ipaddr from "ipaddr.js";

const IPV6_BLOCK_BITS = 64;
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
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  return network(parsed, parsed.kind() === "ipv4" ? COARSE_IPV4_BITS : COARSE_IPV6_BITS);
}
