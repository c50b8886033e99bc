import { brandWords } from "#lib/brand";
import { SAMPLE_BASE, SAMPLE_KEY } from "#lib/docs/sample-words";
import { runningPortal } from "#server/pages/runtime";
import { publicAddress } from "./address";
import { brandHere } from "./brand";
import { demoKeyOf } from "./demo-key";

/** Placeholder for the key when the public one is disabled. */
const OWN_KEY = "<your key>";

/** The base URL that readers use, even before the service is up. */
export function readerAddress(): Promise<string> {
  return publicAddress(runningPortal()?.env.PUBLIC_URL);
}

/** Replaces the base URL, the key, the name and the prefix in the docs with those of this service. */
export async function readerWords(): Promise<(text: string) => string> {
  const base = await readerAddress();
  const parts = runningPortal();
  const key = parts === undefined ? SAMPLE_KEY : (demoKeyOf(parts) ?? OWN_KEY);
  const socket = (address: string) => address.replace(/^http/, "ws");
  const branded = brandWords(brandHere());
  return (text) =>
    branded(text).replaceAll(SAMPLE_BASE, base).replaceAll(socket(SAMPLE_BASE), socket(base)).replaceAll(SAMPLE_KEY, key);
}
