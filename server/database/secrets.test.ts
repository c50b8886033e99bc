import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog } from "#lib/log";
import { EnvError, readEnv } from "#server/env";
import { startEmbeddedPostgres } from "./embedded/embedded-postgres";
import { acquireSecrets } from "./secrets";

const SECRET = "a secret from the environment, long enough";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "spotwire secrets "));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const envOf = (more: Record<string, string>) => readEnv({ DATA_DIR: join(home, "data"), ...more });

test("secrets are generated once, in a file that only its owner can read", async () => {
  const { nextAuth } = await acquireSecrets(envOf({}));
  expect(nextAuth).toMatch(/^[\w-]{64}$/);
  expect(await acquireSecrets(envOf({}))).toEqual({ nextAuth });
  expect(await readdir(join(home, "data"))).toEqual(["nextauth-secret"]);
  expect((await stat(join(home, "data", "nextauth-secret"))).mode & 0o777).toBe(0o600);
});

test("two processes that start at the same time get the same secret", async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => acquireSecrets(envOf({}))));
  expect(new Set(made.map(({ nextAuth }) => nextAuth)).size).toBe(1);
});

test("a secret from the environment takes precedence", async () => {
  expect(await acquireSecrets(envOf({ NEXTAUTH_SECRET: SECRET }))).toEqual({ nextAuth: SECRET });
  await expect(readdir(join(home, "data"))).rejects.toThrow("ENOENT");
});

test("a data directory that cannot be written is named with its setting and the reason", async () => {
  const file = join(home, "file");
  await writeFile(file, "");
  for (const [folder, reason] of [
    [file, "is not a directory"],
    [join(file, "data"), "is not a directory"],
    ["/sys/spotwire", "(is on a read-only file system|may not be written by this user)"],
  ] as const) {
    const env = envOf({ DATA_DIR: folder });
    const words = new RegExp(`DATA_DIR: ${folder} ${reason}\\. Set DATA_DIR to a directory`);
    for (const open of [() => acquireSecrets(env), () => startEmbeddedPostgres({ dataDir: folder, log: createLog("silent") })]) {
      const refusal: unknown = await open().catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(EnvError);
      expect((refusal as Error).message).toMatch(words);
    }
  }
});

test("production with an external database requires the secret in the environment", async () => {
  const external = { NODE_ENV: "production", DATABASE_URL: "postgres://db.example/spotwire" };
  await expect(acquireSecrets(envOf(external))).rejects.toThrow(EnvError);
  await expect(acquireSecrets(envOf(external))).rejects.toThrow("NEXTAUTH_SECRET");
  expect(await acquireSecrets(envOf({ ...external, NEXTAUTH_SECRET: SECRET }))).toEqual({ nextAuth: SECRET });
  expect((await acquireSecrets(envOf({ ...external, NODE_ENV: "development" }))).nextAuth).toHaveLength(64);
});

test("a secret that is too short is rejected", () => {
  expect(() => envOf({ NEXTAUTH_SECRET: "short" })).toThrow("`NEXTAUTH_SECRET` must have at least 32 characters.");
});
