import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Venue } from "#lib/contract/primitives";

const RANDOM_CHARACTERS = 30;
const CHECKSUM_CHARACTERS = 6;
const PREFIX_CHARACTERS = 12;
const LAST_CHARACTERS = 4;
/** Bytes at or past this are thrown away, so that each of the 62 characters is equally likely. */
const UNBIASED_BYTES = 248;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MARKERS = { live: "sw_live_", sandbox: "sw_test_" } as const satisfies Record<Venue, string>;
const SHAPE = new RegExp(`^sw_(?:live|test)_[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

function randomCharacters(): string {
  let text = "";
  while (text.length < RANDOM_CHARACTERS)
    for (const byte of randomBytes(RANDOM_CHARACTERS * 2))
      if (byte < UNBIASED_BYTES && text.length < RANDOM_CHARACTERS) text += BASE62.charAt(byte % BASE62.length);
  return text;
}

/** A new key's text: `sw_live_` or `sw_test_`, 30 base62 characters of chance, 6 of CRC32 over all before them. */
export function mintKey(venue: Venue): string {
  const body = MARKERS[venue] + randomCharacters();
  return body + checksum(body);
}

/**
 * True for a text that could be a key: right shape, right checksum. Any single changed character is noticed, so that a
 * mistyped key never reaches the store.
 */
export function isWellFormedKey(text: string): boolean {
  return SHAPE.test(text) && checksum(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
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
