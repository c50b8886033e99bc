import { headers } from "next/headers";
import { requestAddress } from "#lib/request-address";

/** The base URL that readers use, without a trailing slash: the configured one, else that of this request. */
export async function publicAddress(configured: string | undefined): Promise<string> {
  const sent = configured === undefined ? await headers() : undefined;
  return requestAddress((name) => sent?.get(name), configured) ?? "http://localhost";
}
