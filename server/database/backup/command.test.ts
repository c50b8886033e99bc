import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY_MS } from "#lib/units";
import { lastBackups } from "#server/store/market/backup-runs";
import {
  BACKUP_NOW_MS,
  type BackupBench,
  backupBench,
  breakingIn,
  databaseWithKlines,
  lockAwaited,
  runBackup,
  startBackup,
} from "#server/testing/backups";
import type { TestDatabase } from "#server/testing/database";

const KLINES_COUNT = 60_000;

let bench: BackupBench;
let source: TestDatabase;

beforeAll(async () => {
  bench = await backupBench();
  source = await databaseWithKlines(KLINES_COUNT);
});
afterAll(async () => {
  await source.close();
  await bench.close();
});

/** Files whose names begin with `name`. */
const leftovers = async (name: string) => (await readdir(path.dirname(bench.at(name)))).filter((file) => file.startsWith(name));

describe("npm run backup", () => {
  test("each run is recorded with its time, size and rows, or with why it failed", async () => {
    const file = bench.at("recorded.backup");
    const printed = await bench.command("backup", source.url, "--to", file);
    const at = new Date(BACKUP_NOW_MS).toISOString();
    const { last, failed } = await lastBackups(source.pool);
    expect(last).toMatchObject({ started_at: at, ended_at: at, bytes: (await stat(file)).size, problem: null });
    expect(printed).toContain(`${last?.rows} rows`);
    expect(failed).toBeNull();
    await expect(bench.command("backup", source.url, "--to", file)).rejects.toThrow("already exists");
    const runs = await source.prisma.backupRun.findMany({ orderBy: { problem: "asc" } });
    expect(runs).toMatchObject([
      { bytes: null, rows: null, problem: expect.stringContaining("already exists") },
      { problem: null },
    ]);
  });

  test("a backup to an existing file, into a missing folder or of an empty database fails and leaves no partial file", async () => {
    await writeFile(bench.at("there.backup"), "precious");
    await expect(bench.command("backup", source.url, "--to", bench.at("there.backup"))).rejects.toThrow("already exists");
    expect(await readFile(bench.at("there.backup"), "utf8")).toBe("precious");
    await expect(bench.command("backup", source.url, "--to", bench.at("no/folder.backup"))).rejects.toThrow("cannot be written");
    await writeFile(bench.at("killed.backup.part"), "");
    await expect(bench.command("backup", source.url, "--to", bench.at("killed.backup"))).rejects.toThrow(
      "Delete it if none is running",
    );
    await expect(bench.command("backup", await bench.emptyDatabase(), "--to", bench.at("nothing.backup"))).rejects.toThrow(
      "nothing to back up",
    );
    expect(await leftovers("nothing")).toEqual([]);
  });

  test("a backup into a folder deletes those of its own name that are older than the days to keep, and only after it succeeded", async () => {
    const folder = bench.at("kept");
    const old = "spotwire-2020-01-01T00-00-00.000Z.backup";
    const young = `spotwire-${new Date(BACKUP_NOW_MS - 13 * DAY_MS).toISOString().replaceAll(":", "-")}.backup`;
    await mkdir(folder);
    for (const name of [old, `${old}.part`, young, "mine.backup"]) await writeFile(path.join(folder, name), "");
    const run = (url: string) => bench.command("backup", url, "--folder", folder, "--keep-days", "14");
    await expect(run(await bench.emptyDatabase())).rejects.toThrow("nothing to back up");
    expect(await readdir(folder)).toHaveLength(4);
    expect(await run(source.url)).toContain(`Deleted ${old}, which is older than 14 days.`);
    const made = `spotwire-${new Date(BACKUP_NOW_MS).toISOString().replaceAll(":", "-")}.backup`;
    expect((await readdir(folder)).sort()).toEqual(["mine.backup", made, young].sort());
    await expect(bench.command("backup", source.url, "--keep-days", "14")).rejects.toThrow("--keep-days needs --folder");
    await expect(bench.command("backup", source.url, "--folder", folder, "--keep-days", "0")).rejects.toThrow("1 to 9999 days");
  });

  test("a backup to a full disk fails with one line", async () => {
    const file = bench.at("full.backup");
    const { words, exitCode } = await startBackup({ DATABASE_URL: source.url }, "ulimit -f 64;", "backup", "--to", file).ended;
    expect(words).toBe(`${file} cannot be written: EFBIG: file too large, write.\n`);
    expect(exitCode).toBe(1);
    expect(await leftovers("full")).toEqual([]);
  });

  test("a backup stops on Ctrl-C and leaves no partial file", async () => {
    const holder = source.client();
    await holder.connect();
    await holder.query("BEGIN; LOCK TABLE plan");
    const { child, ended } = startBackup({ DATABASE_URL: source.url }, "", "backup", "--to", bench.at("stopped.backup"));
    await lockAwaited(source.url);
    expect(await leftovers("stopped")).toEqual(["stopped.backup.part"]);
    // The terminal and npm each send one.
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toEqual({ words: "Stopped. Nothing was written.\n", exitCode: 1 });
    expect(await leftovers("stopped")).toEqual([]);
    await holder.end();
  });

  test("a backup whose connection breaks fails and leaves no partial file", async () => {
    const through = await breakingIn(source.url, "TO STDOUT");
    const writing = bench.command("backup", through, "--to", bench.at("broken.backup"));
    await expect(writing).rejects.toThrow("The connection to the database broke");
    expect(await leftovers("broken")).toEqual([]);
  });

  test("a backup with a wrong password or an unreachable database fails with one line", async () => {
    const wrong = new URL(source.url);
    wrong.password = "wrong";
    const refused = await startBackup({ DATABASE_URL: wrong.href }, "", "backup", "--to", bench.at("refused.backup")).ended;
    expect(refused.words).toMatch(/^The database at \S+ refuses the connection: password authentication failed.*\n$/);
    expect(refused.exitCode).toBe(1);
    wrong.port = "1";
    await expect(bench.command("backup", wrong.href)).rejects.toThrow(/Could not reach PostgreSQL/);
  });

  test("a backup without the service's secret fails and makes none, because no restore could verify it", async () => {
    const variables = { DATABASE_URL: source.url, DATA_DIR: bench.at("secretless"), NEXTAUTH_SECRET: "" };
    const file = bench.at("secretless.backup");
    await expect(runBackup("backup", variables, "--to", file)).rejects.toThrow("set NEXTAUTH_SECRET or NEXTAUTH_SECRET_FILE");
    expect([existsSync(variables.DATA_DIR), existsSync(file)]).toEqual([false, false]);
  });

  test("a backup or restore with an empty DATA_DIR fails and creates no database", async () => {
    const variables = { DATA_DIR: bench.at("none") };
    await expect(runBackup("backup", variables)).rejects.toThrow("There is nothing to back up");
    await expect(runBackup("restore", variables, bench.at("nowhere"))).rejects.toThrow("File not found");
    expect(existsSync(variables.DATA_DIR)).toBe(false);
  });

  test.each([
    ["backup", ["here.backup"], /Unexpected argument "here.backup"/],
    ["backup", ["--replace"], /Unknown option '--replace'/],
    ["backup", ["--to"], /argument missing/],
    ["restore", [], /Missing argument: FILE/],
    ["restore", ["a", "b"], /Unexpected argument "b"/],
    ["restore", ["a", "--force"], /--force/],
  ] as const)("npm run %s %j is rejected with a reason", async (name, args, words) => {
    await expect(bench.command(name, source.url, ...args)).rejects.toThrow(words);
  });

  test("npm run backup -- --help mentions the secret that a backup does not contain", async () => {
    expect(await bench.command("backup", source.url, "--help")).toContain("NEXTAUTH_SECRET");
  });
});
