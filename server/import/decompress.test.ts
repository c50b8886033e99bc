import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { zipOf } from "#lib/testing/zip";
import { sourcesOf } from "./decompress";
import { filesOf } from "./files";

const TEXT = "time,bid,ask\n1399237200462,1.387,1.38745\n";
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "spotwire import "));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

async function contents(file: string): Promise<{ skipped: string[]; texts: Record<string, string> }> {
  const skipped: string[] = [];
  const texts: Record<string, string> = {};
  for (const source of await sourcesOf(file, (name) => skipped.push(path.basename(name)))) {
    const chunks: Buffer[] = [];
    for await (const chunk of source.open()) chunks.push(chunk);
    texts[path.basename(source.path)] = Buffer.concat(chunks).toString();
  }
  return { skipped, texts };
}

test("plain, gzipped and zipped files give the same data, whatever their names", async () => {
  expect((await contents(write("plain.csv", TEXT))).texts).toEqual({ "plain.csv": TEXT });
  expect((await contents(write("packed.csv.gz", gzipSync(TEXT)))).texts).toEqual({ "packed.csv": TEXT });
  expect((await contents(write("misnamed.csv", gzipSync(TEXT)))).texts).toEqual({ "misnamed.csv": TEXT });
  expect((await contents(write("one.zip", zipOf({ "inner.csv": TEXT })))).texts).toEqual({ "inner.csv": TEXT });
});

test("an archive gives all of its data files and names the entries it skips", async () => {
  const file = write("many.zip", zipOf({ "a.csv": TEXT, "b.csv": TEXT, "gaps.txt": "remarks" }));
  expect(await contents(file)).toEqual({
    skipped: [expect.stringContaining("gaps.txt")],
    texts: { "a.csv": TEXT, "b.csv": TEXT },
  });
  expect((await contents(write("text.zip", zipOf({ "data.txt": TEXT })))).texts).toEqual({ "data.txt": TEXT });
});

test("a damaged or missing file is rejected with its name", async () => {
  const packed = gzipSync(Buffer.alloc(100_000, "x,y\n"));
  await expect(contents(write("cut.gz", packed.subarray(0, packed.length - 20)))).rejects.toThrow("cut.gz: ");
  await expect(contents(write("cut.zip", zipOf({ "a.csv": TEXT }).subarray(0, 40)))).rejects.toThrow("cut.zip: ");
  await expect(contents(path.join(folder, "absent.csv"))).rejects.toThrow("absent.csv: ");
});

test("a cut off or damaged gzip file and a spreadsheet are rejected with what to do", async () => {
  const packed = gzipSync(Buffer.from(Array.from({ length: 5_000 }, (_, i) => `${i * 7919},${i % 97}\n`).join("")));
  await expect(contents(write("cut.csv.gz", packed.subarray(0, packed.length - 20)))).rejects.toThrow(
    "cut off: copy or download",
  );
  const damaged = Buffer.from(packed);
  damaged.fill(0xff, 200, 260);
  await expect(contents(write("damaged.csv.gz", damaged))).rejects.toThrow("damaged: copy or download");
  const sheets = [
    write("book.xlsx", zipOf({ "[Content_Types].xml": "<a/>", "xl/workbook.xml": "<a/>", "xl/worksheets/sheet1.xml": "<a/>" })),
    write("book.ods", zipOf({ mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<a/>" })),
    write("book.xls", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])),
  ];
  for (const file of sheets) await expect(contents(file)).rejects.toThrow("a spreadsheet: save its sheet as CSV");
});

test("a file that decompresses to an absurd size is rejected", async () => {
  await expect(contents(write("bomb.gz", gzipSync(Buffer.alloc(60_000_000))))).rejects.toThrow(
    "decompresses to more than 250 times its size",
  );
  await expect(contents(write("bomb.zip", zipOf({ "a.csv": Buffer.alloc(60_000_000) })))).rejects.toThrow(
    "decompresses to more than 250 times its size",
  );
});

test("reading a compressed file reports how much of it was read", async () => {
  const [source] = await sourcesOf(write("told.csv.gz", gzipSync(TEXT)), () => undefined);
  let read = 0;
  for await (const _ of source?.open((bytes) => {
    read = bytes;
  }) ?? [])
    expect(read).toBeGreaterThan(0);
  expect(read).toBe(source?.sizeBytes);
});

test("a folder gives the data files in it, sorted by path", async () => {
  await mkdir(path.join(folder, "tree/02"), { recursive: true });
  await mkdir(path.join(folder, "tree/01"), { recursive: true });
  for (const name of ["tree/02/00h_ticks.bi5", "tree/01/01h_ticks.bi5", "tree/01/00h_ticks.bi5", "tree/notes.md"])
    await writeFile(path.join(folder, name), "");
  const found = await filesOf([path.join(folder, "tree")]);
  expect(found.map((file) => path.relative(folder, file))).toEqual([
    "tree/01/00h_ticks.bi5",
    "tree/01/01h_ticks.bi5",
    "tree/02/00h_ticks.bi5",
  ]);
  await expect(filesOf([path.join(folder, "nowhere")])).rejects.toThrow("no such file");
});
