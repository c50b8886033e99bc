import { readFile } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";

/** What `npm start` runs. */
const OUT = path.join(".next", "spotwire");

/** A bundled file is not where its source was: what it reads beside itself is found by the source's place. */
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
 * Makes one file of the server's own sources; packages stay where they are. A process that loads hundreds of sources through a
 * compiler is up in more than twice the time.
 */
export async function bundleServer(): Promise<void> {
  await build({
    entryPoints: [path.join("server", "main.ts")],
    outdir: OUT,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What is loaded later keeps a file of its own. Files of earlier builds stay, for processes that may still load them.
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
