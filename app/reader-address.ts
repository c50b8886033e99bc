import { SAMPLE_BASE, SAMPLE_KEY } from "#lib/docs/sample-words";
import { runningPortal } from "#lib/portal/runtime";
import { publicAddress } from "./address";
import { demoKeyOf } from "./demo-key";

/** Placeholder for the key when the public one is disabled. */
const OWN_KEY = "<your key>";

/** The base URL that readers use, even before the service is up. */
export function readerAddress(): Promise<string> {
  return publicAddress(runningPortal()?.env.PUBLIC_URL);
}

/** Replaces the base URL and the key in the docs with those of this service. */
export async function readerWords(): Promise<(text: string) => string> {
  const base = await readerAddress();
  const parts = runningPortal();
  const key = parts === undefined ? SAMPLE_KEY : (demoKeyOf(parts) ?? OWN_KEY);
  const socket = (address: string) => address.replace(/^http/, "ws");
  return (text) => text.replaceAll(SAMPLE_BASE, base).replaceAll(socket(SAMPLE_BASE), socket(base)).replaceAll(SAMPLE_KEY, key);
}
