import { readFile } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";

/** What `npm start` runs. */
const OUT = path.join(".next", "spotwire");

/** The entry of a thread, as the source beside it names it. All files of the bundle lie in one folder. */
const THREAD = /new URL\("\.\/worker\.ts", import\.meta\.url\)/g;
const BUNDLED_THREAD = 'new URL("./worker.mjs", import.meta.url)';

/**
 * Replaces import.meta.url with the URL of the source file, because sources read files relative to their own location. A
 * thread starts from its bundle, without a compiler.
 */
const ownPlaces: Plugin = {
  name: "own places",
  setup(bundling) {
    bundling.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      if (!text.includes("import.meta.url")) return undefined;
      const place = JSON.stringify(path.relative(path.resolve(OUT), file).replaceAll(path.sep, "/"));
      const contents = text
        .split(THREAD)
        .map((part) => part.replaceAll("import.meta.url", `new URL(${place}, import.meta.url).href`))
        .join(BUNDLED_THREAD);
      return { contents, loader: "ts" };
    });
  },
};

/**
 * Bundles the server's sources into one file and its thread into another; packages stay external. Loading hundreds of sources
 * through a compiler more than doubles the start-up time.
 */
export async function bundleServer(): Promise<void> {
  await build({
    entryPoints: { main: path.join("server", "main.ts"), worker: path.join("server", "feed", "sandbox", "worker.ts") },
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
