/** A key, or what was meant to be one, also where its underscores are percent-encoded. */
const KEY_LIKE = /sw(?:_|%5f)[a-z]{2,12}(?:_|%5f)[0-9a-z%._~-]*/gi;
const MASK = "sw_…";

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
