/** The port that a URL of this scheme has without naming one. */
const DEFAULT_PORT = /^(http:\/\/.*):80$|^(https:\/\/.*):443$/;

/** An origin in the form browsers send: lower case, no default port. */
function normalized(origin: string): string {
  const text = origin.toLowerCase();
  const [, plain, secure] = DEFAULT_PORT.exec(text) ?? [];
  return plain ?? secure ?? text;
}

/**
 * The origin of a request as the rules about keys see it: null without one, and for the service's own origin. Its own are that of
 * `publicUrl` and the one under which the request reached it, by its Host header. TLS may end at a proxy, so both schemes count.
 *
 * Many WebSocket clients outside of browsers send the address they connect to as `Origin`. A page of another site cannot do the
 * same, because browsers set both headers themselves.
 */
export function foreignOrigin(origin: string | null, host: string | null, publicUrl: string | undefined): string | null {
  if (origin === null) return null;
  const sent = normalized(origin);
  if (sent === publicUrl) return null;
  if (host === null) return origin;
  const reached = [`http://${host}`, `https://${host}`].map(normalized);
  return reached.includes(sent) ? null : origin;
}
