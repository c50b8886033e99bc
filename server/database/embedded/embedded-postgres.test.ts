import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createLog } from "#lib/log";
import { mountTestDisk, type TestDisk } from "#server/testing/disk";
import { findEmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres";
import { processStart } from "./lock";

const log = createLog("silent");
const SOON = { interval: 20 };
let dataDir: string;
let holders: ChildProcess[];

beforeEach(async () => {
  dataDir = path.join(await mkdtemp(path.join(tmpdir(), "spotwire embedded ")), "data dir");
  holders = [];
});
afterEach(async () => {
  for (const holder of holders) await terminate(holder, "SIGTERM");
  await rm(path.dirname(dataDir), { recursive: true, force: true, maxRetries: 10 });
});

async function terminate(holder: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null) return;
  const ended = once(holder, "exit");
  holder.kill(signal);
  await ended;
}

/** Starts another process that holds the directory; resolves with the address of its database. */
async function hold(): Promise<{ holder: ChildProcess; url: string }> {
  const script = path.resolve("server/testing/hold-database.ts");
  const holder = spawn(process.execPath, ["--import", "tsx", script, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  holders.push(holder);
  for await (const url of createInterface({ input: holder.stdout as NodeJS.ReadableStream })) return { holder, url };
  throw new Error("the holder said nothing");
}

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  // A connection that a killed server cuts is reported by the query as well.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

const postmasterPid = async () =>
  Number((await readFile(path.join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n")[0]);

describe("embedded PostgreSQL", () => {
  test("embedded PostgreSQL keeps its data over a clean stop, in a path with spaces", async () => {
    const first = await startEmbeddedPostgres({ dataDir, log });
    await ask(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await first.stop();
    await first.ended;
    const second = await startEmbeddedPostgres({ dataDir, log });
    expect(await ask(second.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    await second.stop();
    await second.stop();
    expect(existsSync(path.join(dataDir, "postgres", "postmaster.pid"))).toBe(false);
    expect((await readdir(dataDir)).sort()).toEqual(["postgres", "postgres.log", "postgres.password"]);
  });

  test("embedded PostgreSQL requires its password, which only its owner can read", async () => {
    const server = await startEmbeddedPostgres({ dataDir, log });
    const open = new URL(server.url);
    open.password = "guess";
    await expect(ask(open.href, "SELECT 1")).rejects.toThrow(/password authentication failed/);
    for (const name of ["postgres.password", "postgres.json", "postgres.log"])
      expect((await stat(path.join(dataDir, name))).mode & 0o077).toBe(0);
    await server.stop();
  });

  test("a second embedded PostgreSQL on the same directory is rejected with the id of the process that uses it", async () => {
    const { holder } = await hold();
    await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow(
      new RegExp(`in use by process ${holder.pid}\\. Stop that process first, or set another DATA_DIR`),
    );
    const own = path.join(dataDir, "..", "another");
    const server = await startEmbeddedPostgres({ dataDir: own, log });
    await expect(startEmbeddedPostgres({ dataDir: own, log })).rejects.toThrow(`in use by process ${process.pid}`);
    await server.stop();
  });

  test("a copy of a directory whose database runs is refused in words, and neither database changes", async () => {
    const { holder, url } = await hold();
    await ask(url, "CREATE TABLE kept AS SELECT 42 AS answer");
    const copy = path.join(dataDir, "..", "copy");
    execFileSync("cp", ["-a", dataDir, copy]);
    const before = (await readdir(copy)).sort();
    const words = `The data directory ${copy} is a copy of ${dataDir}, which process ${holder.pid} is using`;
    await expect(findEmbeddedPostgres(copy)).rejects.toThrow(words);
    await expect(startEmbeddedPostgres({ dataDir: copy, log })).rejects.toThrow(words);
    expect((await readdir(copy)).sort()).toEqual(before);
    expect(await findEmbeddedPostgres(dataDir)).toBe(url);
    await terminate(holder, "SIGTERM");
    const server = await startEmbeddedPostgres({ dataDir: copy, log });
    await ask(server.url, "UPDATE kept SET answer = 43");
    await server.stop();
    const original = await startEmbeddedPostgres({ dataDir, log });
    expect(await ask(original.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    await original.stop();
  });

  test("a directory that was moved while its database runs is still its own", async () => {
    const { url } = await hold();
    const moved = path.join(dataDir, "..", "moved");
    await rename(dataDir, moved);
    expect(await findEmbeddedPostgres(moved)).toBe(url);
    await rename(moved, dataDir);
  });

  test("other processes can find embedded PostgreSQL only while it runs", async () => {
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined();
    const { holder, url } = await hold();
    expect(await findEmbeddedPostgres(dataDir)).toBe(url);
    await terminate(holder, "SIGTERM");
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined();
  });

  test("embedded PostgreSQL keeps every commit when its process is killed, and starts again", async () => {
    const { holder, url } = await hold();
    await ask(url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await terminate(holder, "SIGKILL");
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined();
    const server = await startEmbeddedPostgres({ dataDir, log });
    expect(await ask(server.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    await server.stop();
  });

  test("embedded PostgreSQL stops when its process is killed", async () => {
    const { holder } = await hold();
    const pid = await postmasterPid();
    await terminate(holder, "SIGKILL");
    while ((await processStart(pid)) !== null) await new Promise((resolve) => setImmediate(resolve));
  });

  test("embedded PostgreSQL starts after it was killed together with its process", async () => {
    const { holder, url } = await hold();
    await ask(url, "CREATE TABLE kept AS SELECT 42 AS answer");
    const pid = await postmasterPid();
    process.kill(pid, "SIGKILL");
    await terminate(holder, "SIGKILL");
    const server = await startEmbeddedPostgres({ dataDir, log });
    expect(await ask(server.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    await server.stop();
  });

  test("embedded PostgreSQL starts although another process now has the id in postmaster.pid", async () => {
    const first = await startEmbeddedPostgres({ dataDir, log });
    const mark = path.join(dataDir, "postgres", "postmaster.pid");
    const text = await readFile(mark, "utf8");
    await first.stop();
    await writeFile(mark, text.replace(/^\d+/, String(process.ppid)));
    const second = await startEmbeddedPostgres({ dataDir, log });
    await second.stop();
  });

  test("embedded PostgreSQL starts after an interrupted first start", async () => {
    const first = await startEmbeddedPostgres({ dataDir, log });
    await first.stop();
    await rm(path.join(dataDir, "postgres"), { recursive: true });
    await writeFile(path.join(dataDir, "postgres.new"), "half");
    const second = await startEmbeddedPostgres({ dataDir, log });
    await second.stop();
  });

  test("the error for data of another major version of PostgreSQL names both versions", async () => {
    const first = await startEmbeddedPostgres({ dataDir, log });
    await first.stop();
    await writeFile(path.join(dataDir, "postgres", "PG_VERSION"), "16\n");
    await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow(
      /created by PostgreSQL 16, but this release contains 18/,
    );
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined();
  });

  test("embedded PostgreSQL that is killed runs again at the same address with every commit, whatever its backends still do", async () => {
    const server = await startEmbeddedPostgres({ dataDir, log });
    await ask(server.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    const killed = await postmasterPid();
    // It looks for interrupts, but not for the death of its server.
    const busy = ask(server.url, "SELECT count(*) FROM generate_series(1, 1e12)").catch((error: Error) => error.message);
    await vi.waitFor(async () => {
      const active = "SELECT FROM pg_stat_activity WHERE query LIKE '%1e12%' AND state = 'active' AND pid <> pg_backend_pid()";
      expect((await ask(server.url, active)).length).toBe(1);
    }, SOON);
    process.kill(killed, "SIGKILL");
    await vi.waitFor(async () => expect(await ask(server.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]), SOON);
    expect(await busy).toContain("terminated");
    expect(await postmasterPid()).not.toBe(killed);
    expect(await findEmbeddedPostgres(dataDir)).toBe(server.url);
    await server.stop();
    expect(await server.ended).toBeNull();
  });

  test("embedded PostgreSQL that cannot be started again ends after a bounded number of tries, with the reason", async () => {
    const server = await startEmbeddedPostgres({ dataDir, log, restartsMaxCount: 2 });
    const killed = await postmasterPid();
    await rename(path.join(dataDir, "postgres", "global"), path.join(dataDir, "global"));
    process.kill(killed, "SIGKILL");
    expect(await server.ended).toMatch(/did not start.*global/s);
    await server.stop();
    await rename(path.join(dataDir, "global"), path.join(dataDir, "postgres", "global"));
    const again = await startEmbeddedPostgres({ dataDir, log });
    await again.stop();
  });

  test("embedded PostgreSQL can be stopped while it is started again", async () => {
    const server = await startEmbeddedPostgres({ dataDir, log });
    process.kill(await postmasterPid(), "SIGKILL");
    await server.stop();
    expect(await server.ended).toBeNull();
    const again = await startEmbeddedPostgres({ dataDir, log });
    await again.stop();
  });

  test("a start on a full disk says that the disk is full, and nothing of damage or backups to restore", async ({ skip }) => {
    const disk = mountTestDisk("200m");
    skip(disk === undefined, "no disk may be mounted here");
    const { folder, fill, unmount } = disk as TestDisk;
    onTestFinished(unmount);
    const first = await startEmbeddedPostgres({ dataDir: folder, log });
    await ask(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await first.stop();
    const free = await fill(0);
    const refusal = startEmbeddedPostgres({ dataDir: folder, log });
    await expect(refusal).rejects.toThrow(/^The disk of .* is full, so the embedded PostgreSQL cannot start\. 0 MiB are free\./);
    await free();
    const second = await startEmbeddedPostgres({ dataDir: folder, log });
    expect(await ask(second.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
    await second.stop();
  });
});
