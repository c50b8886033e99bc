import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { EnvSchema, readEnv } from "./env";
import { envExample } from "./env-example";

const committed = readFileSync(".env.example", "utf8");

describe(".env.example", () => {
  test("is what the schema says", () => {
    expect(committed === envExample(), ".env.example is out of date: run `npm run docs:env`").toBe(true);
  });

  test("explains every variable", () => {
    for (const [name, schema] of Object.entries(EnvSchema.shape)) expect(schema.description, name).toMatch(/\w.*\.$/);
  });

  test("changes nothing when it is used as it is", () => {
    expect(readEnv(parseEnv(committed) as NodeJS.ProcessEnv)).toEqual(readEnv({} as NodeJS.ProcessEnv));
  });
});
