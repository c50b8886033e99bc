import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BackupBench, backupBench, breakCopy, contentOf, databaseWithKlines, query, shapeOf } from "#server/testing/backups";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { withConnection } from "./connection";

const KLINES_COUNT = 60_000;

let bench: BackupBench;
let source: TestDatabase;

beforeAll(async () => {
  bench = await backupBench();
  source = await databaseWithKlines(KLINES_COUNT);
  await bench.command("backup", source.url, "--to", bench.at("whole.backup"));
});
afterAll(async () => {
  await source.close();
  await bench.close();
});

describe("a restore refuses, changing nothing,", () => {
  let target: string;
  let before: unknown;
  let bytes: Buffer;
  beforeAll(async () => {
    target = await bench.emptyDatabase();
    await bench.command("restore", target, bench.at("whole.backup"));
    await query(target, "INSERT INTO plan VALUES ('mine', 1, 2, 3, 4)");
    before = { content: await contentOf(target), shape: await shapeOf(target) };
    bytes = await readFile(bench.at("whole.backup"));
  });
  const changed = (from: string | RegExp, to: string) => gzipSync(gunzipSync(bytes).toString("utf8").replace(from, to));
  const flipped = () => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(copy.length >> 1) ^ 0xff, copy.length >> 1);
    return copy;
  };

  test.each<[string, () => Buffer | string, RegExp]>([
    ["an empty file", () => "", /is not a Spotwire backup/],
    ["a text", () => "hello, world", /is not a Spotwire backup/],
    ["a foreign gzip file", () => gzipSync("-- PostgreSQL database dump\n"), /is not a Spotwire backup/],
    ["a truncated header", () => bytes.subarray(0, 40), /is not a Spotwire backup, or its beginning/],
    ["a file cut in the middle", () => bytes.subarray(0, bytes.length >> 1), /damaged: it ends too early/],
    ["a file without its last byte", () => bytes.subarray(0, -1), /damaged: it ends too early/],
    ["a flipped byte", flipped, /^The backup is damaged/],
    ["a changed row", () => changed("\ndemo\t60\t", "\ndemo\t61\t"), /damaged: the rows of plan/],
    ["a row that does not fit", () => changed("\ndemo\t60\t", "\ndemo\tx\t"), /damaged: rows of plan do not fit/],
    ["a row too many", () => changed(/\n(demo\t.*\n)/, "\n$1$1"), /damaged: rows of plan do not fit/],
    ["a wrong count", () => changed(/"rows":\d+,"sha256"/, '"rows":1,"sha256"'), /damaged: the rows of/],
    ["an end too many", () => Buffer.concat([bytes, gzipSync("more")]), /damaged: something follows its end/],
    ["a missing table", () => changed(/\{"tables":\d+/, '{"tables":99'), /damaged: tables are missing/],
    ["an unknown column", () => changed(/("table":"plan","columns":\[)/, `$1"colour",`), /damaged: rows of plan do not fit/],
    ["an unknown table", () => changed('{"table":"plan"', '{"table":"spaceship"'), /table spaceship that this Spotwire/],
    ["a newer format", () => changed('"spotwireBackup":1', '"spotwireBackup":2'), /made by a newer Spotwire/],
    ["newer migrations", () => changed('"0001_init"', '"0001_init","0999_later"'), /newer Spotwire \(it has 0999_later\)/],
  ])("%s", async (name, content, words) => {
    const file = bench.at(`${name}.backup`);
    await writeFile(file, content());
    await expect(bench.command("restore", target, file, "--replace")).rejects.toThrow(words);
    expect({ content: await contentOf(target), shape: await shapeOf(target) }).toEqual(before);
  });

  test("a file that is not there, and a folder", async () => {
    await expect(bench.command("restore", target, bench.at("nowhere"))).rejects.toThrow("There is no file");
    await expect(bench.command("restore", target, path.dirname(bench.at("a")))).rejects.toThrow("is not a file");
  });

  test("a database in use", async () => {
    const used = await testDatabase();
    const again = () => bench.command("restore", used.url, bench.at("whole.backup"), "--replace");
    await used.pool.query("SELECT 1");
    await expect(again()).rejects.toThrow("A service or a command uses");
    await used.pool.end();
    await withConnection(used.url, () => expect(again()).rejects.toThrow("A service or a command uses"));
    await again();
    await used.prisma.$disconnect();
  });

  test("a database of somebody else's", async () => {
    const foreign = await bench.emptyDatabase();
    await query(foreign, "CREATE TABLE invoice (id int)");
    await expect(bench.command("restore", foreign, bench.at("whole.backup"), "--replace")).rejects.toThrow("not Spotwire's");
    expect(await query(foreign, "SELECT * FROM invoice")).toEqual([]);
  });

  test("what a broken connection left half", async () => {
    const restoring = bench.command("restore", target, bench.at("whole.backup"), "--replace");
    const broken = expect(restoring).rejects.toThrow("The connection to the database broke");
    await breakCopy(target, "COPY FROM");
    await broken;
    expect({ content: await contentOf(target), shape: await shapeOf(target) }).toEqual(before);
  });
});
