import ipaddr from "ipaddr.js";

/** All public IPv6 addresses so far (RFC 4291): what is outside is local, or stands for an address of IPv4. */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];
/** Public by their range, but reached inside a cloud: the platform endpoint of Azure. */
const INTERNAL = new Set(["168.63.129.16"]);

/**
 * True for an address of the public internet: not private, loopback, link-local (with the metadata services of clouds), carrier
 * NAT, multicast, reserved, or one that stands for another (mapped, NAT64, 6to4, Teredo). False for what is no address.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes("%")) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast" || INTERNAL.has(address.toString())) return false;
  return address.kind() === "ipv4" ? ipaddr.IPv4.isValidFourPartDecimal(text) : (address as ipaddr.IPv6).match(GLOBAL_IPV6);
}
