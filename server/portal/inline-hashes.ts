import { createHash } from "node:crypto";

/** Inline scripts; those with a source are allowed by it. */
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The sources of a Content Security Policy that allow exactly the inline scripts of this page: the hash of each. */
export function inlineScriptHashes(html: string): string[] {
  const hashes = new Set<string>();
  for (const [, script = ""] of html.matchAll(INLINE_SCRIPT))
    hashes.add(`'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  return [...hashes];
}
