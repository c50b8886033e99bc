import { SAMPLE_BASE, SAMPLE_KEY } from "#lib/docs/sample-words";
import { runningParts } from "#lib/runtime";
import { publicAddress } from "./address";
import { demoKeyOf } from "./demo-key";

/** What stands for a key where the public one is switched off. */
const OWN_KEY = "<your key>";

/** The address readers use, also while nothing runs yet. */
export function readerAddress(): Promise<string> {
  return publicAddress(runningParts()?.env.PUBLIC_URL);
}

/** Puts this service's address and its public key where the documentation was written with others. */
export async function readerWords(): Promise<(text: string) => string> {
  const base = await readerAddress();
  const parts = runningParts();
  const key = parts === undefined ? SAMPLE_KEY : (demoKeyOf(parts) ?? OWN_KEY);
  const socket = (address: string) => address.replace(/^http/, "ws");
  return (text) => text.replaceAll(SAMPLE_BASE, base).replaceAll(socket(SAMPLE_BASE), socket(base)).replaceAll(SAMPLE_KEY, key);
}
