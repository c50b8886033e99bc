import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const README_MAX_BYTES = 9_000;
const ARCHITECTURE_MAX_LINES = 240;
const DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map((file) => [file, readFileSync(file, "utf8")] as const);
const textOf = (wanted: string) => DOCUMENTS.find(([file]) => file === wanted)?.[1] ?? "";
const SCRIPTS: Readonly<Record<string, string>> = JSON.parse(readFileSync("package.json", "utf8")).scripts;

/** The TypeScript files of a folder, without those that are generated. */
function typeScriptIn(folder: string): string[] {
  const files = readdirSync(folder, { encoding: "utf8", recursive: true }).map((file) => `${folder}/${file}`);
  return files.filter((file) => /\.tsx?$/.test(file) && !/^lib\/generated\//.test(file));
}

const found = (text: string, pattern: RegExp) => [...new Set(Array.from(text.matchAll(pattern), ([, part = ""]) => part))];
/** The anchors of a Markdown file. */
const anchorsOf = (file: string) =>
  found(readFileSync(file, "utf8"), /^#+ (.+)$/gm).map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(/\s/g, "-"),
  );

describe.each(DOCUMENTS)("%s", (document, text) => {
  test("links to files and headings that exist", () => {
    for (const target of found(text, /\]\((?!https?:)([^)\s]+)\)/g)) {
      const [named = "", anchor] = target.split("#");
      const file = named || document;
      expect(existsSync(file), target).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(file), target).toContain(anchor);
    }
  });

  test("names files and commands that exist", () => {
    const files = found(text, /`((?:\.ci|app|components|e2e|lib|prisma|server)\/[\w./()[\]-]*\w\/?)`/g);
    for (const file of files.filter((one) => !one.includes("NNNN"))) expect(existsSync(file), file).toBe(true);
    for (const script of found(text, /npm run (?:--silent )?([\w:]+)/g)) expect(Object.keys(SCRIPTS)).toContain(script);
  });
});

describe("README", () => {
  test("has at most 9 KB, so that it is read to its end", () => {
    expect(Buffer.byteLength(textOf("README.md"))).toBeLessThanOrEqual(README_MAX_BYTES);
  });

  test("says how large the project is, to the nearest thousand lines or little beside it", () => {
    const files = ["app", "components", "e2e", "lib", "prisma", "server"].flatMap(typeScriptIn);
    const isTest = (file: string) => /\.(test|spec)\.|\/testing\/|^e2e\/|^server\/bench\//.test(file);
    const linesOf = (chosen: readonly string[]) =>
      chosen.reduce((sum, file) => sum + readFileSync(file, "utf8").split("\n").length, 0);
    const packages = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies).length;
    const real = [linesOf(files.filter((file) => !isTest(file))), linesOf(files.filter(isTest)), packages];
    const [, ...said] =
      /([\d,]+) lines of TypeScript, ([\d,]+) of tests and benches, (\d+) direct/.exec(textOf("README.md")) ?? [];
    const share = said.map((words, index) => Number(words.replace(",", "")) / (real[index] ?? 0));
    expect(
      share.map((one) => Math.abs(one - 1) < 0.03),
      String(real),
    ).toEqual([true, true, true]);
  });

  test("has the commands that start and check a clone, as .ci/run checks it", () => {
    const blocks = found(textOf("README.md"), /^```sh\n([^\n]+)\n```$/gm);
    expect(blocks).toContain("npm ci --omit=dev && npm start");
    expect(blocks).toContain(readFileSync(".ci/run", "utf8").trim().split("\n").at(-1));
  });
});

/** What runs in production. */
const SOURCES = ["app", "lib", "server"].flatMap(typeScriptIn).filter((file) => !/\.test\.|\/testing\//.test(file));

/** What the table of caches names, without extension: a path, or a folder and files in it. */
function namedCaches(): string[] {
  const [, section = ""] = textOf("ARCHITECTURE.md").split("\n## Caches\n");
  const places = found(section.split("\n## ")[0] ?? "", /^\| [^|]+ \| ((?:lib|server)\/[^|]+?) +\|/gm);
  return places.flatMap((place) => {
    const [folder = "", files] = place.split(": ");
    return files === undefined ? [folder] : files.split(", ").map((file) => `${folder}/${file}`);
  });
}

describe("ARCHITECTURE", () => {
  test("has at most 240 lines", () => {
    expect(textOf("ARCHITECTURE.md").trimEnd().split("\n").length).toBeLessThanOrEqual(ARCHITECTURE_MAX_LINES);
  });

  test("names functions and settings that exist", () => {
    const words = new Set(SOURCES.flatMap((file) => readFileSync(file, "utf8").match(/\w+/g) ?? []));
    const named = found(textOf("ARCHITECTURE.md"), /`(\w+)`/g);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !words.has(name))).toEqual([]);
  });

  test("names every file that keeps a cache", () => {
    const named = namedCaches();
    for (const stem of named) expect(existsSync(`${stem}.ts`), stem).toBe(true);
    // The client runs elsewhere, and a bench runs what others build.
    const own = SOURCES.filter((file) => !/^lib\/client\/|^lib\/access\/lru\.ts$|^server\/bench\//.test(file));
    const caches = own.filter((file) => /new LRUCache\b|createLru[<(]/.test(readFileSync(file, "utf8")));
    expect(caches.map((file) => file.replace(/\.tsx?$/, "")).filter((stem) => !named.includes(stem))).toEqual([]);
  });
});

describe("the decisions", () => {
  const files = readdirSync("lib/decisions").sort();
  const numbers = files.map((file) => Number.parseInt(file, 10));

  test("each has the number of its file in its title", () => {
    for (const [index, file] of files.entries())
      expect(readFileSync(`lib/decisions/${file}`, "utf8"), file).toMatch(new RegExp(`^# ${numbers[index]}\\. \\S`));
  });

  test("they are numbered from 1 without a gap, but for the numbers that ARCHITECTURE explains", () => {
    const [, explained = ""] = /No record has the numbers ([\d, and]+):/.exec(textOf("ARCHITECTURE.md")) ?? [];
    const missing = explained.match(/\d+/g)?.map(Number) ?? [];
    const all = [...numbers, ...missing].sort((a, b) => a - b);
    expect(all).toEqual(all.map((_, index) => index + 1));
  });
});
