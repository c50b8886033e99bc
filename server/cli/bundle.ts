import { readFile } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";

/** What `npm start` runs. */
const OUT = path.join(".next", "spotwire");

/** Commands that operate a service, for images, which have no compiler, and for tests, which run them many times. */
const COMMANDS = {
  keys: path.join("server", "cli", "keys.ts"),
  admin: path.join("server", "cli", "admin.ts"),
  backup: path.join("server", "cli", "backup.ts"),
  data: path.join("server", "cli", "data.ts"),
  export: path.join("server", "export", "index.ts"),
  feed: path.join("server", "feed", "command.ts"),
  history: path.join("server", "cli", "history.ts"),
  import: path.join("server", "import", "index.ts"),
  instruments: path.join("server", "cli", "instruments.ts"),
  replay: path.join("server", "feed", "replay-command.ts"),
  stream: path.join("server", "cli", "stream.ts"),
};
const ownCommands = new Set(Object.values(COMMANDS).map((file) => path.resolve(file)));
/** What is started as a thread of its own. */
const ENTRIES = {
  worker: path.join("server", "feed", "sandbox", "worker.ts"),
  "file-worker": path.join("server", "store", "files", "file-worker.ts"),
  "past-worker": path.join("server", "store", "history", "past-worker.ts"),
  "strength-worker": path.join("server", "threads", "strength-worker.ts"),
};
/** Such an entry, as the source beside it names it, or the place of a source. All files of the bundle lie in one folder. */
const PLACES = new RegExp(
  `new URL\\("\\./(${Object.keys(ENTRIES).join("|")})\\.ts", import\\.meta\\.url\\)|import\\.meta\\.url`,
  "g",
);

/**
 * Replaces import.meta.url with the URL of the source file, because sources read files relative to their own location. A
 * thread starts from its own bundle, without a compiler.
 */
const ownPlaces: Plugin = {
  name: "own places",
  setup(bundling) {
    bundling.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      // A command compares its own place with what was started: its bundle.
      if (!text.includes("import.meta.url") || ownCommands.has(file)) return undefined;
      const place = JSON.stringify(path.relative(path.resolve(OUT), file).replaceAll(path.sep, "/"));
      const contents = text.replaceAll(PLACES, (_, entry?: string) =>
        entry === undefined ? `new URL(${place}, import.meta.url).href` : `new URL("./${entry}.mjs", import.meta.url)`,
      );
      return { contents, loader: "ts" };
    });
  },
};

/**
 * Bundles the server's sources into one file, and each thread and the portal's process into another; packages stay external.
 * Loading hundreds of sources through a compiler more than doubles the start-up time.
 */
export async function bundleServer(): Promise<void> {
  await build({
    entryPoints: { main: path.join("server", "main.ts"), ...ENTRIES, ...COMMANDS },
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
