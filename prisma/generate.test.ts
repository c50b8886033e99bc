import { cp, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { generate } from "./generate";

const CLIENT = path.join("lib", "generated", "prisma");

/** The text of each file of a client, by its path. */
async function filesOf(root: string): Promise<Record<string, string>> {
  const folder = path.join(root, CLIENT);
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const texts = files.map(async ({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return [path.relative(folder, file), await readFile(file, "utf8")] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

test("the committed client is what Prisma makes of the schema; npm run generate writes it", async () => {
  expect(await generate(".")).toBe(false);
  const root = await mkdtemp(path.join(tmpdir(), "spotwire-client-"));
  onTestFinished(() => rm(root, { recursive: true }));
  // Prisma reads the project's settings of TypeScript, too.
  for (const file of [path.join("prisma", "schema.prisma"), "package.json", "tsconfig.json"])
    await cp(file, path.join(root, file));
  await symlink(path.resolve("node_modules"), path.join(root, "node_modules"));
  expect(await generate(root)).toBe(true);
  const [committed, made] = await Promise.all([filesOf("."), filesOf(root)]);
  expect(Object.keys(committed).sort()).toEqual(Object.keys(made).sort());
  expect(Object.keys(made).filter((file) => made[file] !== committed[file])).toEqual([]);
});
