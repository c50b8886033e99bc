import { createHash, randomBytes } from "node:crypto";
import { BASE62, KEY_MARKERS, KEY_RANDOM_CHARACTERS, keyChecksum } from "#lib/contract/key-text";
import type { Venue } from "#lib/contract/primitives";

const PREFIX_CHARACTERS = 12;
const LAST_CHARACTERS = 4;
/** Bytes at or past this are thrown away, so that each of the 62 characters is equally likely. */
const UNBIASED_BYTES = 248;

function randomCharacters(): string {
  let text = "";
  while (text.length < KEY_RANDOM_CHARACTERS)
    for (const byte of randomBytes(KEY_RANDOM_CHARACTERS * 2))
      if (byte < UNBIASED_BYTES && text.length < KEY_RANDOM_CHARACTERS) text += BASE62.charAt(byte % BASE62.length);
  return text;
}

/** A new key's text: `sw_live_` or `sw_test_`, 30 base62 characters of chance, 6 of CRC32 over all before them. */
export function mintKey(venue: Venue): string {
  const body = KEY_MARKERS[venue] + randomCharacters();
  return body + keyChecksum(body);
}

/** SHA-256 of the whole text, 32 bytes: what is stored in its place. Chance of that length needs no salt. */
export function hashKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** The first 12 characters: what a list of keys shows. */
export function keyPrefix(text: string): string {
  return text.slice(0, PREFIX_CHARACTERS);
}

/** The last 4 characters: what a list of keys shows. */
export function keyLast4(text: string): string {
  return text.slice(-LAST_CHARACTERS);
}
