import { expect, test } from "vitest";
import { readEnv } from "./env";

const DATABASE_URL = "postgresql://u:p@db/spotwire";

test.each<[variables: Record<string, string>, name: string]>([
  [{ DATABASE_URL: `${DATABASE_URL}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem` }, "DATABASE_URL"],
  [{ DATABASE_URL, REDIS_URL: "rediss://redis:6379", REDIS_CA_FILE: "/nowhere/ca.pem" }, "REDIS_CA_FILE"],
  [{ DATABASE_URL, REDIS_URL: "redis://redis:6379", REDIS_CA_FILE: "package.json" }, "REDIS_CA_FILE"],
  [{ REDIS_CA_FILE: "package.json" }, "REDIS_CA_FILE"],
])("settings of TLS that cannot work are named before anything starts: %j", (variables, name) => {
  expect(() => readEnv(variables)).toThrow(new RegExp(`^Wrong configuration:\\n {2}\`${name}\` `));
});

test("settings of TLS that can work are accepted", () => {
  const variables = {
    DATABASE_URL: `${DATABASE_URL}?sslmode=verify-full&sslrootcert=package.json`,
    REDIS_URL: "rediss://redis:6379",
    REDIS_CA_FILE: "package.json",
  };
  expect(readEnv(variables)).toMatchObject(variables);
});
