import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BackupBench,
  backupBench,
  breakCopy,
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

/** Files whose names begin so. */
const leftovers = async (name: string) => (await readdir(path.dirname(bench.at(name)))).filter((file) => file.startsWith(name));

describe("a backup refuses", () => {
  test("to write over a file, into no folder, or from an empty database, and leaves no half file", async () => {
    await writeFile(bench.at("there.backup"), "precious");
    await expect(bench.command("backup", source.url, "--to", bench.at("there.backup"))).rejects.toThrow("exists already");
    expect(await readFile(bench.at("there.backup"), "utf8")).toBe("precious");
    await expect(bench.command("backup", source.url, "--to", bench.at("no/folder.backup"))).rejects.toThrow("cannot be written");
    await writeFile(bench.at("killed.backup.part"), "");
    await expect(bench.command("backup", source.url, "--to", bench.at("killed.backup"))).rejects.toThrow(
      "Remove it if none is running",
    );
    await expect(bench.command("backup", await bench.emptyDatabase(), "--to", bench.at("nothing.backup"))).rejects.toThrow(
      "nothing to back up",
    );
    expect(await leftovers("nothing")).toEqual([]);
  });

  test("a disk that has no more room, and says so in a line", async () => {
    const file = bench.at("full.backup");
    const { words, exitCode } = await startBackup({ DATABASE_URL: source.url }, "ulimit -f 64;", "backup", "--to", file).ended;
    expect(words).toBe(`${file} cannot be written: EFBIG: file too large, write.\n`);
    expect(exitCode).toBe(1);
    expect(await leftovers("full")).toEqual([]);
  });

  test("to go on after Ctrl-C, and leaves no half file", async () => {
    const holder = source.client();
    await holder.connect();
    await holder.query("BEGIN; LOCK TABLE plan");
    const { child, ended } = startBackup({ DATABASE_URL: source.url }, "", "backup", "--to", bench.at("stopped.backup"));
    await lockAwaited(source.url);
    expect(await leftovers("stopped")).toEqual(["stopped.backup.part"]);
    // A terminal and npm send one each.
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toEqual({ words: "Stopped. Nothing was written.\n", exitCode: 1 });
    expect(await leftovers("stopped")).toEqual([]);
    await holder.end();
  });

  test("what a broken connection left half", async () => {
    const writing = bench.command("backup", source.url, "--to", bench.at("broken.backup"));
    const broken = expect(writing).rejects.toThrow("The connection to the database broke");
    await breakCopy(source.url, "COPY TO");
    await broken;
    expect(await leftovers("broken")).toEqual([]);
  });

  test("a wrong password and a database that is away, in a line each", async () => {
    const wrong = new URL(source.url);
    wrong.password = "wrong";
    const refused = await startBackup({ DATABASE_URL: wrong.href }, "", "backup", "--to", bench.at("refused.backup")).ended;
    expect(refused.words).toMatch(/^The database at \S+ refuses the connection: password authentication failed.*\n$/);
    expect(refused.exitCode).toBe(1);
    wrong.port = "1";
    await expect(bench.command("backup", wrong.href)).rejects.toThrow(/Could not reach PostgreSQL/);
  });

  test("a DATA_DIR that holds no database, and makes none", async () => {
    const variables = { DATA_DIR: bench.at("none") };
    await expect(runBackup("backup", variables)).rejects.toThrow("There is nothing to back up");
    await expect(runBackup("restore", variables, bench.at("nowhere"))).rejects.toThrow("There is no file");
    expect(existsSync(variables.DATA_DIR)).toBe(false);
  });

  test.each([
    ["backup", ["here.backup"], /Unexpected argument "here.backup"/],
    ["backup", ["--replace"], /Unknown option '--replace'/],
    ["backup", ["--to"], /argument missing/],
    ["restore", [], /Missing argument: FILE/],
    ["restore", ["a", "b"], /Unexpected argument "b"/],
    ["restore", ["a", "--force"], /--force/],
  ] as const)("%s %j in words", async (name, args, words) => {
    await expect(bench.command(name, source.url, ...args)).rejects.toThrow(words);
  });

  test("not to say what it does", async () => {
    expect(await bench.command("backup", source.url, "--help")).toContain("NEXTAUTH_SECRET");
  });
});
