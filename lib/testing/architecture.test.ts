import { describe, expect, test } from "vitest";
import { circles, FLOORS, wrongArrows } from "./arrows";
import { deadExports } from "./exports";
import { HABITS } from "./habits";
import { parseSource, readSources } from "./sources";

const sources = readSources(process.cwd());

/** All violations in a text, as if it were the file at `path`. */
function offences(path: string, text: string): string[] {
  const source = parseSource(path, text);
  return [...wrongArrows(source), ...HABITS.flatMap((habit) => habit(source))];
}

describe("the project", () => {
  test("no import of the project violates the import rules", () => {
    const found = sources.flatMap(wrongArrows);
    expect(found.length, `\n${found.join("\n")}\n`).toBe(0);
  });

  test("the project has no import cycle, neither of files nor of folders", () => {
    expect(circles(sources)).toEqual([]);
  });

  test("the server has at most eight files in its root, and a layer for each file and folder", () => {
    const root = sources.filter(({ path }) => /^server\/[^/]+$/.test(path)).map(({ path }) => path);
    expect(root.length, root.join(" ")).toBeLessThanOrEqual(8);
    const beside = ["server/bench/", "server/cli/", "server/deploy/", "server/feeders/", "server/simulate/", "server/testing/"];
    const places = [...FLOORS, ...beside];
    const lost = sources.filter(
      ({ path, isTest }) => path.startsWith("server/") && !isTest && !places.some((place) => path.startsWith(place)),
    );
    expect(lost.map(({ path }) => path)).toEqual([]);
  });

  test("files and functions are short, lib/env alone reads the environment, only commands use the console, and no module keeps state", () => {
    const found = sources.flatMap((source) => HABITS.flatMap((habit) => habit(source)));
    expect(found.length, `\n${found.join("\n")}\n`).toBe(0);
  });

  test("every export of the project is imported by another file", () => {
    const found = deadExports(sources);
    expect(found.length, `\n${found.join("\n")}\n`).toBe(0);
  });

  test("every source file of the project is checked", () => {
    const paths = sources.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["lib/env.ts", "lib/contract/operations.ts", "app/layout.tsx", "e2e/browser.ts"]),
    );
    expect(paths.some((path) => path.startsWith("lib/generated/"))).toBe(false);
  });
});

const long = (lines: number) => "x();\n".repeat(lines);

const REFUSED: [why: string, path: string, text: string][] = [
  ["the contract reaching into the domain", "lib/contract/a.ts", 'import { zone } from "#lib/domain/zone";'],
  ["a value of the contract in the domain", "lib/domain/a.ts", 'import { Ticker } from "#lib/contract/primitives";'],
  ["zod in the domain", "lib/domain/a.ts", 'import { z } from "zod";'],
  ["a built-in module in the domain", "lib/domain/a.ts", 'import { readFileSync } from "node:fs";'],
  ["market questions reaching into access", "lib/market/a.ts", 'import { verify } from "#lib/access/keys";'],
  ["lib/http importing React", "lib/http/a.ts", 'import { useState } from "react";'],
  ["lib/http importing the server", "lib/http/a.ts", 'import { createEngine } from "#server/engine/engine";'],
  ["docs importing more than the contract", "lib/docs/a.ts", 'import { runtime } from "#lib/runtime";'],
  ["a page importing the server", "app/page.tsx", 'import { startMarket } from "#server/market";'],
  ["a component importing the database", "components/a.tsx", 'import { db } from "#lib/db";'],
  ["an end-to-end test that imports the product", "e2e/a.spec.ts", 'import { runtime } from "#lib/runtime";'],
  ["a part of the server touching Next", "server/engine/engine.ts", 'import next from "next";'],
  ["test support in production code", "server/market.ts", 'import { ticks } from "#lib/testing/ticks";'],
  ["a relative import around the rules", "lib/domain/a.ts", 'import { db } from "../db";'],
  ["a dynamic import around the rules", "lib/domain/a.ts", 'const db = await import("#lib/db");'],
  ["an export around the rules", "lib/domain/a.ts", 'export { db } from "#lib/db";'],
  ["a place without a rule", "scripts/a.ts", ""],
  ["a long file", "lib/market/a.ts", long(351)],
  ["a long function", "server/a.ts", `function a() {\n${long(99)}}`],
  [
    "a long function inside a factory",
    "server/a.ts",
    `export function createA() {\n  function b() {\n${long(99)}  }\n  return { b };\n}`,
  ],
  ["a function that is long with its inner ones", "server/a.ts", `function a() {\n  run(() => {\n${long(98)}  });\n}`],
  ["a long factory", "server/a.ts", `export function createA() {\n${long(159)}}`],
  ["a factory beside another export", "server/a.ts", `export function createA() {\n${long(99)}}\nexport function b() {}`],
  ["an import from a higher layer", "server/hub/a.ts", 'import { x } from "#server/socket/x";'],
  ["the environment read elsewhere", "server/a.ts", "const port = process.env.PORT;"],
  ["a console outside commands", "server/a.ts", 'console.log("up");'],
  ["the clock in the domain", "lib/domain/a.ts", "export const now = () => Date.now();"],
  ["a new Date of now in the domain", "lib/domain/a.ts", "export const now = () => new Date();"],
  ["randomness in the domain", "lib/domain/a.ts", "export const chance = () => Math.random();"],
  ["let at module level", "lib/market/a.ts", "let cache;"],
  ["an empty Map at module level", "lib/market/a.ts", "const cache = new Map<string, number>();"],
  ["a list that is pushed to", "lib/market/a.ts", "const seen = [];\nexport const see = (x) => seen.push(x);"],
  ["a record that is written to", "lib/market/a.ts", "const seen = {};\nexport const see = (x) => { seen[x] = 1; };"],
];

const ACCEPTED: [what: string, path: string, text: string][] = [
  ["a type of the contract in the domain", "lib/domain/a.ts", 'import type { Kline } from "#lib/contract/kline";'],
  ["numbers of the contract in the domain", "lib/domain/a.ts", 'import { KLINE_CLOSE_DELAY_MS } from "#lib/contract/limits";'],
  ["inline types alone", "lib/domain/a.ts", 'import { type Kline } from "#lib/contract/kline";'],
  ["a date of an instant in the domain", "lib/domain/a.ts", "export const day = (ms) => new Date(ms).getUTCDay();"],
  ["a fixed Map at module level", "lib/market/a.ts", "const DAYS = new Map([[1, 2]]);\nexport const day = (n) => DAYS.get(n);"],
  ["state inside a function", "lib/market/a.ts", "export function make() {\n  let n = 0;\n  return () => n++;\n}"],
  ["a function of 100 lines", "server/a.ts", `function a() {\n${long(98)}}`],
  [
    "a factory of short functions",
    "server/a.ts",
    `export function createA() {\n  function b() {\n${long(75)}  }\n  return {\n c() {\n${long(75)}}, b };\n}`,
  ],
  ["a command that prints", "server/cli/a.ts", 'console.log("done");'],
  ["a test beside its subject", "lib/domain/a.test.ts", 'import fc from "fast-check";\nimport { db } from "#lib/db";'],
];

describe("the check refuses", () => {
  test.each(REFUSED)("the architecture check refuses %s", (_, path, text) => {
    expect(offences(path, text)).toHaveLength(1);
  });
});

describe("the check accepts", () => {
  test.each(ACCEPTED)("the architecture check accepts %s", (_, path, text) => {
    expect(offences(path, text)).toEqual([]);
  });
});

describe("circles", () => {
  const source = (path: string, ...imports: string[]) =>
    parseSource(path, imports.map((name) => `import type { A } from "${name}";`).join("\n"));
  const name = ([first]: string[]) => first?.split(", ").sort().join(", ");

  test("two files that import each other are a cycle", () => {
    expect(name(circles([source("lib/a.ts", "./b"), source("lib/b.ts", "#lib/a")]))).toBe("lib/a, lib/b");
  });
  test("two folders that import each other are a cycle, even if no files do", () => {
    const files = [
      source("lib/a/x.ts", "#lib/b/x"),
      source("lib/b/x.ts"),
      source("lib/b/y.ts", "#lib/a/y"),
      source("lib/a/y.ts"),
    ];
    expect(name(circles(files))).toBe("lib/a/, lib/b/");
  });
  test("a chain of imports is no cycle", () => {
    expect(circles([source("lib/a.ts", "./b"), source("lib/b.ts", "./c"), source("lib/c.ts")])).toEqual([]);
  });
});

describe("exports", () => {
  const dead = (...files: [path: string, text: string][]) => deadExports(files.map(([path, text]) => parseSource(path, text)));

  test("an unused export is reported by name and line", () => {
    expect(dead(["lib/a.ts", "\nexport const a = 1;\nexport const b = a;"], ["lib/b.ts", 'import { b } from "./a";'])).toEqual([
      "lib/a.ts:2: no other file imports a",
    ]);
  });
  test.each([
    ["a function", "export function a() {}"],
    ["a type", "export type A = 1;"],
    ["a default", "export default function a() {}"],
    ["a destructured constant", "export const { a } = b;"],
    ["a re-export", 'export { a } from "./c";'],
    ["an exported list", "const a = 1;\nexport { a };"],
  ])("an unused export of %s is reported", (_, text) => {
    expect(dead(["lib/a.ts", text])).toHaveLength(1);
  });
  test.each([
    ["a named import", 'import { a } from "#lib/a";'],
    ["a renamed import", 'import { a as b } from "#lib/a";'],
    ["a namespace import", 'import * as all from "./a";'],
    ["a dynamic import", 'const all = await import("./a");'],
    ["an import type", 'type A = typeof import("./a");'],
  ])("%s counts as a use of an export", (_, text) => {
    expect(dead(["lib/a.ts", "export const a = 1;"], ["lib/a.test.ts", text])).toEqual([]);
  });
  test("a type and a value that share a name are one export", () => {
    expect(dead(["lib/a.ts", "export const A = 1;\nexport type A = 1;"], ["lib/b.ts", 'import type { A } from "./a";'])).toEqual(
      [],
    );
  });
  test.each(["app/x/page.tsx", "app/api/x/route.ts", "lib/docs/source.config.ts", "lib/x.d.ts", "lib/client/index.ts"])(
    "exports of %s may be unused inside the project",
    (path) => expect(dead([path, "export const a = 1;"])).toEqual([]),
  );
});
