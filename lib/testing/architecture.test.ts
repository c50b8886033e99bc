import { describe, expect, test } from "vitest";
import { PLAN_LIMIT_NAMES, PLAN_LIMITS, type PlanLimitName } from "#lib/contract/limits";
import { circles, FLOORS, wrongArrows } from "./arrows";
import { deadExports } from "./exports";
import { HABITS } from "./habits";
import { inputOutput } from "./input-output";
import { parseSource, readSources } from "./sources";

const sources = readSources(process.cwd());

/** All violations in a text, as if it were the file at `path`. */
function offences(path: string, text: string): string[] {
  const source = parseSource(path, text);
  return [...wrongArrows(source), ...inputOutput(source), ...HABITS.flatMap((habit) => habit(source))];
}

/** What counts calls has a rate and a burst of its own. */
const COUNTERS = [
  "lib/access/limits/",
  "lib/access/access.ts",
  "server/store/access/",
  "lib/access/usage/counts.ts",
  "lib/testing/bucket-store-suite.ts",
  "server/http/keyless-calls.ts",
];
/** Where a limit of a plan is named beside its declaration: what enforces it, and what says this one alone. */
const LIMIT_PLACES: Readonly<Record<PlanLimitName, readonly string[]>> = {
  restPerMinute: [...COUNTERS, "components/overview/", "lib/operations/key/declaration.ts"],
  restBurst: [...COUNTERS, "components/overview/"],
  streamConnections: [
    "components/board/",
    "components/overview/",
    "components/playground/trouble.ts",
    "lib/access/access.ts",
    "server/store/access/create-access.ts",
    "lib/docs/",
    "lib/metrics.ts",
    "lib/operations/key/declaration.ts",
    "server/socket/",
  ],
  subscriptionsPerConnection: ["components/board/", "lib/docs/", "server/socket/"],
};

describe("the project", () => {
  test("no import of the project violates the import rules", () => {
    const found = sources.flatMap(wrongArrows);
    expect(found.length, `\n${found.join("\n")}\n`).toBe(0);
  });

  test("no file of lib reads or writes: no database, Redis, file, connection, process or thread", () => {
    const found = sources.flatMap(inputOutput);
    expect(found.length, `\n${found.join("\n")}\n`).toBe(0);
  });

  test("the project has no import cycle, neither of files nor of folders", () => {
    expect(circles(sources)).toEqual([]);
  });

  test("the server has at most eight files in its root, and a layer for each file and folder", () => {
    const root = sources.filter(({ path }) => /^server\/[^/]+$/.test(path)).map(({ path }) => path);
    expect(root.length, root.join(" ")).toBeLessThanOrEqual(8);
    const beside = ["server/bench/", "server/cli/", "server/deploy/", "server/feeders/", "server/testing/"];
    const places = [...FLOORS, ...beside];
    const lost = sources.filter(
      ({ path, isTest }) => path.startsWith("server/") && !isTest && !places.some((place) => path.startsWith(place)),
    );
    expect(lost.map(({ path }) => path)).toEqual([]);
  });

  test("no literal is spread into another one, server/env alone reads the environment, only commands use the console, no module keeps state, no text has the name of the program, and no form is checked by the browser", () => {
    const found = sources.flatMap((source) => HABITS.flatMap((habit) => habit(source)));
    expect(found.length, `\n${found.join("\n")}\n`).toBe(0);
  });

  test("a limit of a plan is named where it is declared and enforced; forms, tables, rows and the reference follow", () => {
    const code = sources.filter(({ path, isTest }) => !isTest && !path.startsWith("e2e/") && path !== "lib/contract/limits.ts");
    const found = PLAN_LIMIT_NAMES.flatMap((name) => {
      const spelled = new RegExp(`\\b(${name}|${PLAN_LIMITS[name].field})\\b`);
      const elsewhere = code.filter(({ path }) => !LIMIT_PLACES[name].some((place) => path.startsWith(place)));
      return elsewhere.filter(({ tree }) => spelled.test(tree.text)).map(({ path }) => `${path} names ${name}`);
    });
    expect(found).toEqual([]);
  });

  test("every export of the project is imported by another file", () => {
    const found = deadExports(sources);
    expect(found.length, `\n${found.join("\n")}\n`).toBe(0);
  });

  test("every source file of the project is checked", () => {
    const paths = sources.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["lib/env.ts", "lib/operations/declarations.ts", "app/layout.tsx", "e2e/browser.ts"]),
    );
    expect(paths.some((path) => path.startsWith("lib/generated/"))).toBe(false);
  });
});

const REFUSED: [why: string, path: string, text: string][] = [
  ["the contract reaching into the domain", "lib/contract/a.ts", 'import { zone } from "#lib/domain/zone";'],
  ["a value of the contract in the domain", "lib/domain/a.ts", 'import { Ticker } from "#lib/contract/primitives";'],
  ["zod in the domain", "lib/domain/a.ts", 'import { z } from "zod";'],
  ["a built-in module in the domain", "lib/domain/a.ts", 'import { createHash } from "node:crypto";'],
  ["market questions reaching into access", "lib/market/a.ts", 'import { verify } from "#lib/access/verify-key";'],
  ["lib/http importing React", "lib/http/a.ts", 'import { useState } from "react";'],
  ["lib/http importing the server", "lib/http/a.ts", 'import { createEngine } from "#server/engine/engine";'],
  ["docs importing more than the contract", "lib/docs/a.ts", 'import { runtime } from "#lib/runtime";'],
  ["a page importing the server", "app/page.tsx", 'import { startMarket } from "#server/market/market";'],
  ["a page importing the store", "app/page.tsx", 'import { listKeys } from "#server/store/access/keys";'],
  ["a component importing the database", "components/a.tsx", 'import { openDatabase } from "#server/store/database/db";'],
  ["SQL in lib", "lib/market/a.ts", 'export const ROWS = "SELECT id FROM instrument WHERE id = $1";'],
  ["SQL in parts in lib", "lib/market/a.ts", "export const all = `DELETE FROM instrument `;"],
  ["a call of Prisma in lib", "lib/market/a.ts", "export const plans = ({ prisma }) => prisma.plan.findMany();"],
  ["the type of a row in lib", "lib/log.ts", 'import type { User } from "#lib/generated/prisma/client";'],
  ["a file in lib", "lib/market/a.ts", 'import { readFile } from "node:fs/promises";'],
  ["a connection in lib", "lib/market/a.ts", 'import { connect, isIP } from "node:net";'],
  ["a thread in lib", "lib/market/a.ts", 'import { Worker } from "node:worker_threads";'],
  ["an end-to-end test that imports the product", "e2e/a.spec.ts", 'import { runtime } from "#lib/runtime";'],
  ["a part of the server touching Next", "server/engine/engine.ts", 'import next from "next";'],
  ["test support in production code", "server/market.ts", 'import { ticks } from "#lib/testing/ticks";'],
  ["a relative import around the rules", "lib/domain/a.ts", 'import { clock } from "../clock";'],
  ["a dynamic import around the rules", "lib/domain/a.ts", 'const log = await import("#lib/log");'],
  ["an export around the rules", "lib/domain/a.ts", 'export { log } from "#lib/log";'],
  ["a place without a rule", "scripts/a.ts", ""],
  ["an object that is spread where it is written", "server/a.ts", "const a = { ...{ b, c }, d };"],
  ["a list that is spread where it is written", "server/a.ts", "const a = [...[b, c], d];"],
  ["attributes that are spread where they are written", "components/a.tsx", "const a = <B {...{ c }} d />;"],
  ["an import from a higher layer", "server/hub/a.ts", 'import { x } from "#server/socket/x";'],
  ["the environment read elsewhere", "server/a.ts", "const port = process.env.PORT;"],
  ["the name of the program in a mail", "lib/mail/a.ts", "export const text = 'Welcome to Spotwire.';"],
  ["a word with two meanings on a page", "components/a.tsx", 'export const text = "Create a test key";'],
  ["a form that the browser checks", "components/a.tsx", "export const a = () => <form onSubmit={send} />;"],
  ["a format of dates on a page", "components/a.tsx", 'const day = new Intl.DateTimeFormat("en-GB");'],
  ["a time of the browser's own language", "components/a.tsx", "const text = new Date(ms).toLocaleString();"],
  ["a time cut out of ISO 8601", "app/a.tsx", "const text = new Date(ms).toISOString().slice(11, 16);"],
  ["a clock that is put together", "components/a.ts", "const hour = new Date(ms).getUTCHours();"],
  ["a zone that is said in another way", "components/a.tsx", 'export const text = "All times UTC.";'],
  ["a space before a percent sign", "components/a.tsx", 'export const text = "5 %";'],
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
  ["an object that is spread where it may be absent", "server/a.ts", "const a = { ...(b && { c }), d };"],
  ["the name of a class of the client", "components/board/a.ts", 'export const name = "SpotwireError";'],
  ["an instant for the component that shows it", "components/a.tsx", "const at = new Date(ms).toISOString();"],
  ["a command that prints", "server/cli/a.ts", 'console.log("done");'],
  ["an address that is only looked at", "lib/access/a.ts", 'import { isIP } from "node:net";'],
  ["a page importing what pages ask", "app/page.tsx", 'import { portal } from "#server/pages/runtime";'],
  ["a test beside its subject", "lib/domain/a.test.ts", 'import fc from "fast-check";\nimport { log } from "#lib/log";'],
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
