/** A host as a browser sends it. Anything else is not repeated in a document, or in a command that people paste into a shell. */
const HOST = /^(?:[\w.-]{1,253}|\[[0-9a-fA-F:]{2,39}\])(?::\d{1,5})?$/;

/**
 * The address under which readers use the service, without a trailing slash; undefined where neither source names one.
 * @param headers those of the request; the server has removed what an untrusted proxy says
 * @param configured PUBLIC_URL, which decides when it is set
 */
export function requestAddress(headers: Pick<Headers, "get"> | undefined, configured: string | undefined): string | undefined {
  if (configured !== undefined) return configured.replace(/\/+$/, "");
  const host = headers?.get("x-forwarded-host") ?? headers?.get("host") ?? "";
  if (!HOST.test(host)) return undefined;
  const address = `${headers?.get("x-forwarded-proto") === "https" ? "https" : "http"}://${host}`;
  // "1.2.3.999" and "a:70000" look like hosts, but no URL has them.
  return URL.canParse(address) ? address : undefined;
}
