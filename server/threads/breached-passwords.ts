import { createHash } from "node:crypto";
import list from "./breached-passwords.json" with { type: "json" };

/** Of 300,000 good passwords, one is taken for a listed one. */
const FINGERPRINT_BYTES = 4;

/** The start of a digest, by which passwords are compared without their case. */
export function fingerprint(password: string): number {
  return createHash("sha256").update(password.toLowerCase()).digest().readUInt32BE();
}

/** Ascending; breached-passwords.test.ts makes the list. */
const bytes = Buffer.from(list.fingerprints, "base64");

/** Whether a password is among the commonest of those that became public in breaches and are long enough to be chosen here. */
export function isBreached(password: string): boolean {
  const wanted = fingerprint(password);
  let [low, high] = [0, bytes.length / FINGERPRINT_BYTES];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bytes.readUInt32BE(middle * FINGERPRINT_BYTES) < wanted) low = middle + 1;
    else high = middle;
  }
  return low * FINGERPRINT_BYTES < bytes.length && bytes.readUInt32BE(low * FINGERPRINT_BYTES) === wanted;
}
