/** A host as a browser sends it. Anything else is not repeated in a document, or in a command that people paste into a shell. */
const HOST = /^(?:[\w.-]{1,253}|\[[0-9a-fA-F:]{2,39}\])(?::\d{1,5})?$/;

/**
 * The address under which readers use the service, without a trailing slash; undefined where neither source names one. The sender
 * of a request chooses its headers, so only an answer to that sender may name it.
 * @param header a request header by its lower-case name; for pages, the server has removed what an untrusted proxy says
 * @param configured PUBLIC_URL, which decides when it is set
 */
export function requestAddress(
  header: (name: string) => string | null | undefined,
  configured: string | undefined,
): string | undefined {
  if (configured !== undefined) return configured;
  const host = header("x-forwarded-host") ?? header("host") ?? "";
  if (!HOST.test(host)) return undefined;
  const address = `${header("x-forwarded-proto") === "https" ? "https" : "http"}://${host}`;
  // "1.2.3.999" and "a:70000" look like hosts, but no URL has them.
  return URL.canParse(address) ? address : undefined;
}
