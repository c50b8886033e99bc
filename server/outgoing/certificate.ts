import { isIP } from "node:net";
import { connect } from "node:tls";
import { SECOND_MS } from "#lib/units";

const CONNECT_MAX_MS = 10 * SECOND_MS;
const HTTPS_PORT = 443;

/**
 * When the certificate ends that answers at this URL, Unix milliseconds; null without HTTPS, and where it cannot be seen from here,
 * such as behind a proxy of another network. It does not throw, and takes at most CONNECT_MAX_MS.
 */
export function certificateEnd(address: string): Promise<number | null> {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "https:") return Promise.resolve(null);
  return new Promise((resolve) => {
    const settle = (end: number | null) => {
      resolve(end);
      socket.destroy();
    };
    // One that has ended is what is looked for, and nothing is sent.
    const options = { host, port: Number(url.port) || HTTPS_PORT, rejectUnauthorized: false };
    const socket = connect({ ...options, ...(isIP(host) === 0 && { servername: host }) }, () => {
      const endMs = Date.parse(socket.getPeerCertificate().valid_to);
      settle(Number.isNaN(endMs) ? null : endMs);
    });
    socket.setTimeout(CONNECT_MAX_MS, () => settle(null));
    socket.once("error", () => settle(null));
    socket.once("close", () => settle(null));
  });
}
