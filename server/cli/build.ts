import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bundleServer } from "./bundle";
import { compressAssets } from "./compress-assets";

/** Bundles the server, and builds the pages when their sources changed since the last build, so that a second start is quick. */

const SOURCES = ["app", "components", "lib", "next.config.ts", "postcss.config.mjs", "package-lock.json", "tsconfig.json"];
/** Made of other sources, each time in the order in which the disk lists them: it would change the digest without a reason. */
const MADE = path.join("lib", "generated", "docs");
const STAMP = path.join(".next", "spotwire-sources");

function filesOf(entry: string): string[] {
  if (!existsSync(entry)) return [];
  const found = readdirSync(entry, { recursive: true, withFileTypes: true });
  return found
    .filter((file) => file.isFile() && !file.name.includes(".test."))
    .map((file) => path.join(file.parentPath, file.name))
    .filter((file) => !file.startsWith(MADE))
    .sort();
}

function digest(): string {
  const hash = createHash("sha256").update(process.version);
  for (const source of SOURCES) {
    const files = /\.\w+$/.test(source) ? [source] : filesOf(source);
    for (const file of files) hash.update(file).update("\0").update(readFileSync(file));
  }
  return hash.digest("hex");
}

const wanted = digest();
const built = existsSync(STAMP) ? readFileSync(STAMP, "utf8") : "";
if (built !== wanted) {
  const next = path.join("node_modules", "next", "dist", "bin", "next");
  const result = spawnSync(process.execPath, [next, "build"], { stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
  await compressAssets(path.join(".next", "static"));
  writeFileSync(STAMP, wanted);
}
await bundleServer();
