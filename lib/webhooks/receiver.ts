import { isIP } from "node:net";
import { isPublicAddress } from "./public-address";

const HTTPS_PORT = 443;
const NOT_PUBLIC = "must be a public address. The operator can allow hosts inside the network.";

/** Where a webhook may be sent to. */
interface Receiver {
  readonly url: URL;
  /** Named by the operator: its addresses may be internal. */
  readonly trusted: boolean;
}

/** The host of a URL as an address or name: without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

/** What the operator lets webhooks reach. */
export interface Reach {
  /** WEBHOOK_ALLOWED_HOSTS: `name` or `name:port`, which may be internal and use http. */
  readonly allowedHosts: readonly string[];
  /** WEBHOOK_PORTS: those of all other receivers. Others belong to other services, to which a webhook must not speak. */
  readonly ports: readonly number[];
}

function urlProblem(url: URL, ports: Reach["ports"]): string | undefined {
  const port = url.port === "" ? HTTPS_PORT : Number(url.port);
  const portProblem = ports.includes(port) ? undefined : `must use one of the ports ${ports.join(", ")}.`;
  const host = hostOf(url);
  if (url.protocol !== "https:") return "must begin with https://.";
  if (isIP(host) !== 0) return isPublicAddress(host) ? portProblem : NOT_PUBLIC;
  // A name without a dot, and localhost, exist inside the network only.
  if (!host.replace(/\.$/, "").includes(".") || /(^|\.)localhost\.?$/i.test(host)) return NOT_PUBLIC;
  return portProblem;
}

/**
 * Reads the address of a webhook. What its name resolves to is checked when something is sent, because it can change.
 * @returns the receiver, or what is wrong with the address, to follow its name
 */
export function parseReceiver(text: string, { allowedHosts, ports }: Reach): Receiver | string {
  if (!URL.canParse(text)) return "must be an https:// URL.";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must be an https:// URL.";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password.";
  if (url.hash !== "") return "must not contain a fragment (#).";
  const trusted = allowedHosts.some((host) => host.toLowerCase() === url.host);
  const problem = trusted ? undefined : urlProblem(url, ports);
  return problem ?? { url, trusted };
}
