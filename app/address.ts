import { headers } from "next/headers";

/** A host as a browser sends it. Anything else is not repeated in a command that people paste into a shell. */
const HOST = /^(?:[\w.-]{1,253}|\[[0-9a-fA-F:]{2,39}\])(?::\d{1,5})?$/;

/** The base URL that readers use, without a trailing slash: the configured one, else that of this request. */
export async function publicAddress(configured: string | undefined): Promise<string> {
  if (configured !== undefined) return configured.replace(/\/+$/, "");
  const sent = await headers();
  const host = sent.get("x-forwarded-host") ?? sent.get("host") ?? "";
  const scheme = sent.get("x-forwarded-proto") === "https" ? "https" : "http";
  return `${scheme}://${HOST.test(host) ? host : "localhost"}`;
}
