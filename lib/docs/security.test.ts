import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = path.join(import.meta.dirname, "..", "..");
const CHECKLIST = readFileSync(path.join(import.meta.dirname, "security.md"), "utf8");
/** The chapters of OWASP ASVS 5.0. */
const CHAPTERS = [
  "Encoding and Sanitization",
  "Validation and Business Logic",
  "Web Frontend Security",
  "API and Web Service",
  "File Handling",
  "Authentication",
  "Session Management",
  "Authorization",
  "Self-contained Tokens",
  "OAuth and OIDC",
  "Cryptography",
  "Secure Communication",
  "Configuration",
  "Data Protection",
  "Secure Coding and Architecture",
  "Security Logging and Error Handling",
  "WebRTC",
];
const NOT_MET = /^(not met|does not apply), because \S/;

const rows = CHECKLIST.split("\n")
  .filter((line) => /^\| (API|V)\d/.test(line))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const testsIn = (cell: string) => [...cell.matchAll(/`((?:lib|server|app|e2e|prisma)\/[\w/-]+)`/g)].map(([, name = ""]) => name);
const fileOf = (name: string) => [`${name}.test.ts`, `${name}.spec.ts`].find((file) => existsSync(path.join(ROOT, file)));

describe("the security checklist", () => {
  test("it has every risk of the API Security Top 10 and every chapter of ASVS 5, in order", () => {
    const named = rows.map(([name = ""]) => name);
    const numbers = (kind: string) => [...new Set(named.flatMap((name) => new RegExp(`^${kind}(\\d+) `).exec(name)?.[1] ?? []))];
    expect(numbers("API")).toEqual(Array.from({ length: 10 }, (_, index) => String(index + 1)));
    expect(numbers("V")).toEqual(CHAPTERS.map((_, index) => String(index + 1)));
    for (const [index, chapter] of CHAPTERS.entries())
      expect(
        named.some((name) => name.startsWith(`V${index + 1} ${chapter}`)),
        chapter,
      ).toBe(true);
  });

  test.each(rows)("%s names tests that exist, or says why it is not met", (_name, _answer, verified = "") => {
    const tests = testsIn(verified);
    if (!NOT_MET.test(verified)) {
      expect(tests.length).toBeGreaterThan(0);
      expect(verified.split(", ")).toHaveLength(tests.length);
    }
    for (const name of tests) {
      const file = fileOf(name);
      expect(file, name).toBeDefined();
      expect(readFileSync(path.join(ROOT, file ?? ""), "utf8"), name).toMatch(/\btest(\.\w+)?\(/);
    }
  });

  test("no page claims that the service calls no URL of a user", () => {
    for (const file of ["security.md", "guides/security.mdx"]) {
      const text = readFileSync(path.join(import.meta.dirname, file), "utf8");
      expect(text).not.toMatch(/never fetches a URL/);
      expect(text).toMatch(/the only URLs of a user .*webhooks/i);
    }
  });
});
