import { createHash, randomBytes } from "node:crypto";
import { BASE62, KEY_MARKERS, KEY_PREFIX_DEFAULT, KEY_RANDOM_CHARACTERS, KEY_START, keyChecksum } from "#lib/contract/key-text";
import type { Venue } from "#lib/contract/primitives";

/** Characters of chance that a list of keys shows. */
const SHOWN_CHARACTERS = 4;
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

/** A new key's text: its prefix, `_live_` or `_test_`, 30 base62 characters of chance, 6 of CRC32 over all before them. */
export function mintKey(venue: Venue, prefix = KEY_PREFIX_DEFAULT): string {
  const body = prefix + KEY_MARKERS[venue] + randomCharacters();
  return body + keyChecksum(body);
}

/** SHA-256 of the whole text, 32 bytes: what is stored in its place. Chance of that length needs no salt. */
export function hashKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** The first characters, to the fourth of chance: what a list of keys shows. */
export function keyPrefix(text: string): string {
  const start = KEY_START.exec(text)?.[0] ?? "";
  return text.slice(0, start.length + SHOWN_CHARACTERS);
}

/** The last 4 characters: what a list of keys shows. */
export function keyLast4(text: string): string {
  return text.slice(-LAST_CHARACTERS);
}
