import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EnvSchema } from "#lib/env";
import { parseArguments } from "#server/cli/run-command";
import { OPTIONS, readOptions } from "./options";

const GUIDE = readFileSync("lib/docs/guides/scaling.mdx", "utf8");
const SCRIPTS: Record<string, string> = JSON.parse(readFileSync("package.json", "utf8")).scripts;

const matches = (pattern: RegExp, text = GUIDE) => [...text.matchAll(pattern)].map(([, found = ""]) => found);

describe("the guide on scaling", () => {
  test("the scaling guide names only commands that exist", () => {
    const commands = new Set(matches(/npm run ([\w:]+)/g));
    expect([...commands]).toContain("simulate");
    for (const command of commands) expect(Object.keys(SCRIPTS)).toContain(command);
  });

  test("the scaling guide uses valid arguments of the simulation", () => {
    const runs = matches(/^npm run simulate -- ((?:.*\\\n)*.*)$/gm).map((text) => text.replaceAll("\\\n", " "));
    expect(runs.length).toBeGreaterThan(0);
    for (const run of runs) expect(readOptions(parseArguments(OPTIONS, run.trim().split(/\s+/)).values)).toBeDefined();
  });

  test("the scaling guide names only benches that exist", () => {
    const names = matches(/^ {2}(\w+): bench/gm, readFileSync("server/bench/main.ts", "utf8"));
    const asked = matches(/npm run bench -- ([a-z ]+)/g).flatMap((text) => text.trim().split(" "));
    expect(asked).toContain("cluster");
    for (const name of asked) expect(names).toContain(name);
  });

  test("the scaling guide sets only variables that the service reads", () => {
    const variables = new Set(matches(/^ +(?:[\w]+=\S+ )*([A-Z_]{4,})=/gm));
    const elsewhere = ["SITE_ADDRESS", "EDGES", "EDGE_UPSTREAMS"];
    expect([...variables]).toContain("REDIS_URL");
    for (const variable of variables) expect([...Object.keys(EnvSchema.shape), ...elsewhere]).toContain(variable);
  });
});
