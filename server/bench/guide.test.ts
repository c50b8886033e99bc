import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EnvSchema } from "#lib/env";
import { OPTIONS, readOptions } from "./options";

const GUIDE = readFileSync("lib/docs/guides/scaling.mdx", "utf8");
const SCRIPTS: Record<string, string> = JSON.parse(readFileSync("package.json", "utf8")).scripts;

const matches = (pattern: RegExp, text = GUIDE) => [...text.matchAll(pattern)].map(([, found = ""]) => found);

describe("the guide on scaling", () => {
  test("the scaling guide names only commands that exist", () => {
    const commands = new Set(matches(/npm run ([\w:]+)/g));
    expect([...commands]).toContain("bench");
    for (const command of commands) expect(Object.keys(SCRIPTS)).toContain(command);
  });

  test("the scaling guide names only benches that exist", () => {
    const asked = matches(/npm run bench -- ([a-z ]+)/g).flatMap((text) => text.trim().split(" "));
    expect(asked).toContain("rest");
    const values = { seconds: OPTIONS.seconds.default, rounds: OPTIONS.rounds.default };
    expect(readOptions({ values, names: asked }).chosen).toEqual(asked);
  });

  test("the scaling guide sets only variables that the service reads", () => {
    const variables = new Set(matches(/^ +(?:[\w]+=\S+ )*([A-Z_]{4,})=/gm));
    const elsewhere = ["SITE_ADDRESS", "EDGES", "EDGE_UPSTREAMS"];
    expect([...variables]).toContain("REDIS_URL");
    for (const variable of variables) expect([...Object.keys(EnvSchema.shape), ...elsewhere]).toContain(variable);
  });
});
