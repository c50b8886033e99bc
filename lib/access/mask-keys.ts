import { KEY_PREFIX, KEY_PREFIX_DEFAULT } from "#lib/contract/key-text";

const LINE = "(?:_|%5f)";
const REST = "[0-9a-z%._~-]";
/**
 * A key or token, or what was meant to be one, also where its underscores are percent-encoded. With a prefix that an installation
 * chose it must have some length: other texts start as it does, such as my_test_app.
 */
const KEY_LIKE = new RegExp(
  `${KEY_PREFIX_DEFAULT}${LINE}[a-z]{2,12}${LINE}${REST}*|${KEY_PREFIX}${LINE}(?:live|test|page|link)${LINE}${REST}{20,}`,
  "gi",
);
const MASK = `${KEY_PREFIX_DEFAULT}_…`;

/** Percent-decoded once; the text itself where it cannot be. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * A text without anything that looks like a key, for logs that people read. A text that hides one in percent-encoding is
 * masked as a whole.
 */
export function maskKeys(text: string): string {
  const masked = text.replace(KEY_LIKE, MASK);
  if (!masked.includes("%")) return masked;
  return decoded(masked).replaceAll(MASK, "").search(KEY_LIKE) === -1 ? masked : MASK;
}
