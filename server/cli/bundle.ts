import { readFile } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";

/** What `npm start` runs. */
const OUT = path.join(".next", "spotwire");

/** Replaces import.meta.url with the URL of the source file, because sources read files relative to their own location. */
const ownPlaces: Plugin = {
  name: "own places",
  setup(bundling) {
    bundling.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      if (!text.includes("import.meta.url")) return undefined;
      const place = JSON.stringify(path.relative(path.resolve(OUT), file).replaceAll(path.sep, "/"));
      return { contents: text.replaceAll("import.meta.url", `new URL(${place}, import.meta.url).href`), loader: "ts" };
    });
  },
};

/**
 * Bundles the server's sources into one file; packages stay external. Loading hundreds of sources through a compiler more than
 * doubles the start-up time.
 */
export async function bundleServer(): Promise<void> {
  await build({
    entryPoints: [path.join("server", "main.ts")],
    outdir: OUT,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // Dynamic imports become separate files. Files of earlier builds stay, because running processes may still load them.
    splitting: true,
    chunkNames: "[name]-[hash]",
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: true,
    plugins: [ownPlaces],
    logLevel: "warning",
  });
}
