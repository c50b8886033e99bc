/** A logo is sent with every page. */
export const LOGO_MAX_BYTES = 65_536;
export const LOGO_SIZE_RULE = `must be a file of at most ${LOGO_MAX_BYTES} bytes.`;
const PNG_MAX_PIXELS = 2_048;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const SVG_START =
  /^\uFEFF?\s*(?:<\?xml(?:\s+(?:version\s*=\s*["']1\.[01]["']|encoding\s*=\s*["']utf-8["']|standalone\s*=\s*["'](?:yes|no)["']))*\s*\?>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<svg[\s>]/i;

/** What an SVG must not have, and how it is called. A picture in `<img>` runs and loads nothing anyway, nor does the policy let it. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/<(?:[\w.-]+:)?(?:script|handler|listener)\b/i, "a script"],
  [/[\s"'/]on[\w-]*\s*=/i, "an event handler"],
  [/<(?:[\w.-]+:)?(?:foreignObject|iframe|object|embed|audio|video|canvas)\b/i, "embedded content"],
  [/<!(?!--)/, "a document type or an entity"],
  // An escaped character could hide any of the others.
  [/&(?!(?:amp|lt|gt|quot|apos);)|\\/, "an escaped character"],
  [/(?:href|src)\s*=\s*(?!["']#)|\burl\(\s*["']?(?!["'#])|@import|xml:base|<\?(?!xml\s)/i, "an external reference"],
];

/** The type of a picture. */
export type LogoType = "image/png" | "image/svg+xml";

/** The type of a logo by its content. @returns why it cannot be shown, as the end of a sentence about its setting */
export function readLogo(bytes: Buffer): { readonly type: LogoType } | string {
  if (bytes.byteLength > LOGO_MAX_BYTES) return LOGO_SIZE_RULE;
  if (bytes.subarray(0, PNG_SIGNATURE.byteLength).equals(PNG_SIGNATURE)) {
    // The first chunk has width and height.
    const isWhole = bytes.byteLength >= 24 && bytes.toString("latin1", 12, 16) === "IHDR";
    const sides = isWhole ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : [0];
    if (sides.every((side) => side > 0 && side <= PNG_MAX_PIXELS)) return { type: "image/png" };
    return `must be a PNG of 1 to ${PNG_MAX_PIXELS} pixels in width and height.`;
  }
  const text = bytes.toString("utf8");
  if (!SVG_START.test(text)) return "must be an SVG in UTF-8 or a PNG, by its content.";
  const found = FORBIDDEN.find(([pattern]) => pattern.test(text));
  return found === undefined ? { type: "image/svg+xml" } : `must be an SVG without ${found[1]}.`;
}
