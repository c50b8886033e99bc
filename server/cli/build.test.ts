import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dropForeignCaches } from "../../next.config";

test("a build in a copied or moved folder begins without the caches of the other one, and else keeps its own", () => {
  const home = mkdtempSync(path.join(tmpdir(), "spotwire-build-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [first, copy, moved] = ["first", "copy", "moved"].map((name) => path.join(home, name)) as [string, string, string];
  const caches = [path.join(".next", "cache", "turbopack"), path.join(".next", "dev", "cache", "turbopack")];
  const kept = (folder: string) => caches.map((cache) => existsSync(path.join(folder, cache)));
  const built = path.join(".next", "spotwire", "main.mjs");

  dropForeignCaches(first);
  for (const cache of caches) mkdirSync(path.join(first, cache), { recursive: true });
  mkdirSync(path.dirname(path.join(first, built)), { recursive: true });
  writeFileSync(path.join(first, built), "");
  dropForeignCaches(first);
  expect(kept(first)).toEqual([true, true]);

  cpSync(first, copy, { recursive: true });
  dropForeignCaches(copy);
  expect(kept(copy)).toEqual([false, false]);
  expect(existsSync(path.join(copy, built))).toBe(true);
  expect(kept(first)).toEqual([true, true]);

  renameSync(first, moved);
  dropForeignCaches(moved);
  expect(kept(moved)).toEqual([false, false]);
});
