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

describe("npm run restore", () => {
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
    ["a text file", () => "hello, world", /is not a Spotwire backup/],
    ["another gzip file", () => gzipSync("-- PostgreSQL database dump\n"), /is not a Spotwire backup/],
    ["a truncated header", () => bytes.subarray(0, 40), /is not a Spotwire backup, or its beginning/],
    ["a file truncated in the middle", () => bytes.subarray(0, bytes.length >> 1), /damaged: it is truncated/],
    ["a file without its last byte", () => bytes.subarray(0, -1), /damaged: it is truncated/],
    ["a flipped byte", flipped, /^The backup is damaged/],
    ["a changed row", () => changed("\ndemo\t60\t", "\ndemo\t61\t"), /damaged: the rows of plan/],
    ["a row with an invalid value", () => changed("\ndemo\t60\t", "\ndemo\tx\t"), /damaged: rows of plan do not match the table/],
    ["a duplicate row", () => changed(/\n(demo\t.*\n)/, "\n$1$1"), /damaged: rows of plan do not match the table/],
    ["a wrong count", () => changed(/"rows":\d+,"sha256"/, '"rows":1,"sha256"'), /damaged: the rows of/],
    ["data after the end", () => Buffer.concat([bytes, gzipSync("more")]), /damaged: data follows its end/],
    ["a missing table", () => changed(/\{"tables":\d+/, '{"tables":99'), /damaged: tables are missing/],
    [
      "an unknown column",
      () => changed(/("table":"plan","columns":\[)/, `$1"colour",`),
      /damaged: rows of plan do not match the table/,
    ],
    ["an unknown table", () => changed('{"table":"plan"', '{"table":"spaceship"'), /table spaceship that this version/],
    ["a newer format", () => changed('"spotwireBackup":1', '"spotwireBackup":2'), /made by a newer Spotwire/],
    ["newer migrations", () => changed('"0001_init"', '"0001_init","0999_later"'), /newer Spotwire \(it has 0999_later\)/],
  ])("a restore of %s is rejected and changes nothing", async (name, content, words) => {
    const file = bench.at(`${name}.backup`);
    await writeFile(file, content());
    await expect(bench.command("restore", target, file, "--replace")).rejects.toThrow(words);
    expect({ content: await contentOf(target), shape: await shapeOf(target) }).toEqual(before);
  });

  test("a restore of a missing file or of a folder is rejected", async () => {
    await expect(bench.command("restore", target, bench.at("nowhere"))).rejects.toThrow("File not found");
    await expect(bench.command("restore", target, path.dirname(bench.at("a")))).rejects.toThrow("is not a file");
  });

  test("a restore into a database in use is rejected", async () => {
    const used = await testDatabase();
    const again = () => bench.command("restore", used.url, bench.at("whole.backup"), "--replace");
    await used.pool.query("SELECT 1");
    await expect(again()).rejects.toThrow("A service or a command is using");
    await used.pool.end();
    await withConnection(used.url, () => expect(again()).rejects.toThrow("A service or a command is using"));
    await again();
    await used.prisma.$disconnect();
  });

  test("a restore into a database with tables of another program is rejected and changes nothing", async () => {
    const foreign = await bench.emptyDatabase();
    await query(foreign, "CREATE TABLE invoice (id int)");
    await expect(bench.command("restore", foreign, bench.at("whole.backup"), "--replace")).rejects.toThrow("not Spotwire's");
    expect(await query(foreign, "SELECT * FROM invoice")).toEqual([]);
  });

  test("a restore whose connection breaks changes nothing", async () => {
    const restoring = bench.command("restore", target, bench.at("whole.backup"), "--replace");
    const broken = expect(restoring).rejects.toThrow("The connection to the database broke");
    await breakCopy(target, "COPY FROM");
    await broken;
    expect({ content: await contentOf(target), shape: await shapeOf(target) }).toEqual(before);
  });
});
