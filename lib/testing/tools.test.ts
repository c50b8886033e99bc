import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installList } from "./tools";

interface Locked {
  readonly version: string;
  readonly integrity: string;
}

/** A cache, and a list of nothing or of a package with this lock. */
async function scene(name?: string, locked?: Locked) {
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-tools-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [list, cache] = [path.join(folder, "list"), path.join(folder, "cache")];
  await mkdir(list);
  const root = { dependencies: name === undefined ? {} : { [name]: locked?.version } };
  const packages = { "": root, ...(name === undefined ? {} : { [`node_modules/${name}`]: locked }) };
  await writeFile(path.join(list, "package.json"), JSON.stringify({ private: true, ...root }));
  await writeFile(path.join(list, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
  return { list, cache };
}

test("a list is installed once, however many ask at once, and a claim of a process that has died holds nobody up", async () => {
  const { list, cache } = await scene();
  const folder = await installList(list, cache);
  await rm(folder, { recursive: true });
  // No process has this number.
  await writeFile(`${folder}.pid`, "4194305");
  expect(await Promise.all([installList(list, cache), installList(list, cache)])).toEqual([folder, folder]);
  expect(existsSync(path.join(folder, "node_modules"))).toBe(true);
  expect(await readdir(cache)).toEqual([path.basename(folder)]);
});

test("a package that is not the one that was locked is refused, and nothing of the list is kept", async () => {
  const integrity = `sha512-${Buffer.alloc(64).toString("base64")}`;
  const { list, cache } = await scene("uqr", { version: "0.1.3", integrity });
  await expect(installList(list, cache)).rejects.toThrow(/EINTEGRITY/);
  expect((await readdir(cache)).filter((name) => !name.endsWith(".draft"))).toEqual([]);
});
