/** Random characters of a key, between its marker and its checksum. */
export const KEY_RANDOM_CHARACTERS = 30;
const CHECKSUM_CHARACTERS = 6;
/** Reversed polynomial of CRC-32 (ISO 3309, as in zlib and gzip). */
const CRC32_POLYNOMIAL = 0xed_b8_83_20;

export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** What keys and tokens start with, where an installation has set nothing else. */
export const KEY_PREFIX_DEFAULT = "sw";
/** What an installation may choose, as a part of a regular expression. All are accepted everywhere: a key outlives the choice. */
export const KEY_PREFIX = "[a-z][a-z0-9]{1,7}";
/** What stands between the prefix of a key and its random characters. */
export const KEY_MARKERS = { live: "_live_", sandbox: "_test_" } as const;
/** The start of a text that is meant to be a key. */
export const KEY_START = new RegExp(`^${KEY_PREFIX}_(?:live|test)_`);
const SHAPE = new RegExp(`${KEY_START.source}[0-9A-Za-z]{${KEY_RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** CRC-32 of ASCII text, computed bit by bit: keys are short, and a table would be sent to every browser. */
function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? CRC32_POLYNOMIAL : 0);
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}

/** The last six characters of a key: the CRC-32 of everything before them, in base 62. */
export function keyChecksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

/**
 * Whether a text can be a key: a prefix, `_live_` or `_test_`, 30 base62 characters, 6 checksum characters. The checksum detects
 * any single changed character, so that a mistyped key is neither sent nor looked up.
 */
export function isWellFormedKey(text: string): boolean {
  return SHAPE.test(text) && keyChecksum(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}
