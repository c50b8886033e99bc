import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { readEnv } from "#server/env";
import { EnvSchema } from "./env";
import { envExample } from "./env-example";

const committed = readFileSync(".env.example", "utf8");

describe(".env.example", () => {
  test(".env.example matches the schema", () => {
    expect(committed === envExample(), ".env.example is out of date: run `npm run docs:env`").toBe(true);
  });

  test(".env.example explains every variable", () => {
    for (const [name, schema] of Object.entries(EnvSchema.shape)) expect(schema.description, name).toMatch(/\w.*\.$/);
  });

  test(".env.example changes nothing when it is used unchanged", () => {
    expect(readEnv(parseEnv(committed) as NodeJS.ProcessEnv)).toEqual(readEnv({} as NodeJS.ProcessEnv));
  });
});
