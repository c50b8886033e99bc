import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Brand } from "#lib/brand";
import { readLogoFile } from "#server/env";

/** The pictures of the program, under its own name; relative to the working directory. */
const FOLDER = path.join("lib", "brand-pictures");
const TYPES: Readonly<Record<string, string>> = {
  "icon.svg": "image/svg+xml",
  "favicon.ico": "image/x-icon",
  "apple-icon.png": "image/png",
  "card.png": "image/png",
};
/** How long a browser keeps one, in seconds. */
const KEPT_S = 3_600;
/** A picture that is opened as a page runs nothing, loads nothing and has no origin. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Where they are. */
export const BRAND_PATH = "/brand/";
/** The files there. */
export const BRAND_FILES: ReadonlySet<string> = new Set([...Object.keys(TYPES), "logo", "logo-dark"]);

function picture(bytes: Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(bytes, {
    headers: {
      // An SVG is read as what was checked, whatever encoding it says it has.
      "content-type": type === "image/svg+xml" ? `${type}; charset=utf-8` : type,
      "content-length": String(bytes.byteLength),
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "cache-control": `public, max-age=${KEPT_S}`,
    },
  });
}

/** A tile with the first letter of a name, for a brand without a logo. Its colours do not depend on the theme of the page. */
function tile({ name, accent }: Brand): Response {
  const letter = name.slice(0, name.codePointAt(0) === name.charCodeAt(0) ? 1 : 2).toUpperCase();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${accent?.light ?? "#2f55c8"}"/><text x="16" y="22.5" fill="#fff" font-family="sans-serif" font-size="19" font-weight="600" text-anchor="middle">${letter}</text></svg>`;
  return picture(new TextEncoder().encode(svg), "image/svg+xml");
}

/** The response with a picture of the brand; 404 where it has none, as for a logo that is no longer one. */
export async function brandPicture(name: string, brand: Brand): Promise<Response> {
  const { logo, isOwn } = brand;
  const file = name === "logo" ? logo?.light : name === "logo-dark" ? logo?.dark : undefined;
  const shown = file === undefined ? undefined : readLogoFile(file);
  if (typeof shown === "object") return picture(new Uint8Array(shown.bytes), shown.type);
  if (name === "icon.svg" && isOwn) return tile(brand);
  const type = isOwn ? undefined : TYPES[name];
  if (type === undefined) return new Response("There is no such picture.\n", { status: 404 });
  return picture(new Uint8Array(await readFile(path.join(FOLDER, name))), type);
}
