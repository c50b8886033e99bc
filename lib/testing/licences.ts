/** Licences that ask no more of a user than to keep their notice, as SPDX identifiers. */
export const PERMISSIVE: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
]);

/** Production dependencies with another licence, or without one in package.json, and why they may be used. */
export const NAMED_LICENCES: readonly { readonly name: RegExp; readonly licence: string; readonly reason: string }[] = [
  {
    name: /^@img\/sharp-(libvips-|wasm32$|win32-)/,
    licence: "LGPL-3.0-or-later",
    reason: "libvips, an unmodified shared library that Next loads to resize images and that can be replaced",
  },
  {
    name: /^lightningcss(-|$)/,
    licence: "MPL-2.0",
    reason: "compiles CSS during the build; unmodified, and the licence covers its own files only",
  },
  {
    name: /^@fontsource-variable\/geist(-mono)?$/,
    licence: "OFL-1.1",
    reason: "the fonts of the pages, which may be embedded and served",
  },
  { name: /^caniuse-lite$/, licence: "CC-BY-4.0", reason: "data about browsers, read during the build; its author is named" },
  {
    name: /^@(next\/swc|tailwindcss\/oxide)-/,
    licence: "none",
    reason: "parts of Next and Tailwind CSS for other systems, both MIT; see WITHOUT_INTEGRITY",
  },
];

/**
 * Prebuilt programs for other systems than Linux on glibc, which the registry did not yet offer when their versions were
 * locked. Write the `dist.integrity` of `npm view NAME@VERSION` into package-lock.json, then delete the name here.
 */
export const WITHOUT_INTEGRITY: readonly string[] = [
  "@next/swc-darwin-arm64",
  "@next/swc-darwin-x64",
  "@next/swc-win32-arm64-msvc",
  "@next/swc-win32-x64-msvc",
  "@tailwindcss/oxide-android-arm64",
  "@tailwindcss/oxide-darwin-arm64",
  "@tailwindcss/oxide-darwin-x64",
  "@tailwindcss/oxide-freebsd-x64",
  "@tailwindcss/oxide-linux-arm-gnueabihf",
  "@tailwindcss/oxide-wasm32-wasi",
  "@tailwindcss/oxide-win32-arm64-msvc",
  "@tailwindcss/oxide-win32-x64-msvc",
];
