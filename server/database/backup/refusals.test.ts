import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BackupBench,
  backupBench,
  breakingIn,
  contentOf,
  databaseWithKlines,
  query,
  runBackup,
  shapeOf,
} from "#server/testing/backups";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { TEST_SECRET } from "#server/testing/runtime";
import { withConnection } from "./connection";
import { createSealCheck, requireSeal, SEAL_BYTES } from "./seal";

const KLINES_COUNT = 60_000;

let bench: BackupBench;
/** A backup of a database that Spotwire 0.1.0 made. */
let former: Buffer;
let source: TestDatabase;

beforeAll(async () => {
  bench = await backupBench();
  former = await readFile("lib/testing/fixtures/release-0.1.0.backup");
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
  /** The compressed text, without the seal. */
  let bytes: Buffer;
  let whole: Buffer;
  beforeAll(async () => {
    target = await bench.emptyDatabase();
    await bench.command("restore", target, bench.at("whole.backup"));
    await query(target, "INSERT INTO plan VALUES ('mine', 1, 2, 3, 4)");
    before = { content: await contentOf(target), shape: await shapeOf(target) };
    whole = await readFile(bench.at("whole.backup"));
    bytes = whole.subarray(0, -SEAL_BYTES);
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
    ["newer migrations", () => changed('"0001_initial"', '"0001_initial","0999_later"'), /newer Spotwire: it has 0999_later,/],
    ["a release up to 0.2.0", () => former, /made by Spotwire 0\.2\.0 or earlier.*npm run export/],
  ])("a restore of %s is rejected and changes nothing, even unverified", async (name, content, words) => {
    const file = bench.at(`${name}.backup`);
    await writeFile(file, content());
    await expect(bench.command("restore", target, file, "--replace", "--unverified")).rejects.toThrow(words);
    expect({ content: await contentOf(target), shape: await shapeOf(target) }).toEqual(before);
  });

  const at = (from: number, to: number, ...between: Buffer[]) =>
    Buffer.concat([whole.subarray(0, from), ...between, whole.subarray(to)]);
  const half = () => whole.length >> 1;
  test.each<[string, () => Buffer, RegExp]>([
    [
      "whose content was changed and compressed again",
      () => at(0, bytes.length, changed("\ndemo\t60\t", "\ndemo\t61\t")),
      /was changed, or/,
    ],
    ["with one flipped bit", () => at(half(), half() + 1, Buffer.of(whole.readUInt8(half()) ^ 1)), /was changed, or/],
    ["with a byte less", () => at(half(), half() + 1), /was changed, or/],
    ["with a byte more before its seal", () => at(bytes.length, bytes.length, Buffer.of(0)), /was changed, or/],
    ["with another digest", () => at(whole.length - 3, whole.length - 1, Buffer.from("zz")), /has no seal/],
    ["with a byte after its seal", () => Buffer.concat([whole, Buffer.of(10)]), /has no seal/],
    ["that was cut", () => whole.subarray(0, half()), /has no seal/],
    ["that was cut by one byte", () => whole.subarray(0, -1), /has no seal/],
    ["of an earlier version", () => bytes, /has no seal.*Use --unverified/],
  ])("a file %s is refused before the database is asked", async (name, content, words) => {
    const file = bench.at(`${name}.backup`);
    await writeFile(file, content());
    await expect(bench.command("restore", "postgresql://127.0.0.1:1/nowhere", file, "--replace")).rejects.toThrow(words);
  });

  test("a file of another installation is refused, without a secret too, unless --unverified says to trust it", async () => {
    const foreign = (secret: string, ...more: string[]) =>
      runBackup(
        "restore",
        { DATABASE_URL: "postgresql://127.0.0.1:1/nowhere", DATA_DIR: bench.at("none"), NEXTAUTH_SECRET: secret },
        bench.at("whole.backup"),
        ...more,
      );
    await expect(foreign("the secret of another installation")).rejects.toThrow("made with another NEXTAUTH_SECRET");
    await expect(foreign("")).rejects.toThrow("cannot be verified without the secret");
    // It now tries the database, which does not exist.
    await expect(foreign("", "--unverified")).rejects.toThrow("Could not reach PostgreSQL");
    const elsewhere = await bench.emptyDatabase();
    const variables = {
      DATABASE_URL: elsewhere,
      DATA_DIR: bench.at("none"),
      NEXTAUTH_SECRET: "the secret of another installation",
    };
    await runBackup("restore", variables, bench.at("whole.backup"), "--unverified");
    expect(await query(elsewhere, "SELECT count(*)::int AS count FROM kline_tail")).toEqual([{ count: KLINES_COUNT }]);
  });

  test("a file that changes after it was verified is noticed while it is read", async () => {
    const { seal } = await requireSeal(bench.at("whole.backup"), TEST_SECRET);
    const reading = (content: Buffer) =>
      pipeline(
        Readable.from([content]),
        createSealCheck(TEST_SECRET, seal, () => new Error("it changed")),
        new PassThrough().resume(),
      );
    await reading(bytes);
    await expect(reading(flipped())).rejects.toThrow("it changed");
    await expect(reading(bytes.subarray(1))).rejects.toThrow("it changed");
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
    const through = await breakingIn(target, "FROM STDIN");
    const restoring = bench.command("restore", through, bench.at("whole.backup"), "--replace");
    await expect(restoring).rejects.toThrow("The connection to the database broke");
    expect({ content: await contentOf(target), shape: await shapeOf(target) }).toEqual(before);
  });
});
