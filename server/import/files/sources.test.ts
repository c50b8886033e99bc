import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { Header } from "tar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { zipOf } from "#lib/testing/zip";
import { createScratch } from "./archives";
import { createSourceFinder, filesOf } from "./sources";

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

async function contents(file: string, scratch = createScratch()): Promise<{ skipped: string[]; texts: Record<string, string> }> {
  const texts: Record<string, string> = {};
  const finder = createSourceFinder(scratch);
  try {
    const { sources, skipped } = await finder.sourcesOf(file);
    for (const source of sources) {
      const chunks: Buffer[] = [];
      for await (const chunk of source.open()) chunks.push(chunk);
      texts[path.basename(source.path)] = Buffer.concat(chunks).toString();
    }
    return { skipped: skipped.map((name) => path.basename(name)), texts };
  } finally {
    await finder.close();
  }
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

const UNREADABLE: [what: string, begin: Buffer][] = [
  ["an xz file: unpack it", Buffer.from("fd377a585a000004", "hex")],
  ["a zstd file: unpack it", Buffer.from("28b52ffd0458", "hex")],
  ["a bzip2 file: unpack it", Buffer.from("425a6839314159265359", "hex")],
  ["a bzip2 file: unpack it", Buffer.from("425a6839177245385090", "hex")],
  ["an lz4 file: unpack it", Buffer.from("04224d186440", "hex")],
  ["a 7z archive: unpack it", Buffer.from("377abcaf271c0004", "hex")],
  ["a rar archive: unpack it", Buffer.from("526172211a0700", "hex")],
  ["a rar archive: unpack it", Buffer.from("526172211a070100", "hex")],
  ["a PDF document: get the data", Buffer.from("%PDF-1.7\n")],
  ["a web page, perhaps of a login: log in", Buffer.from("\uFEFF\n<!DOCTYPE html>\n<html>")],
  ["a web page, perhaps of a login: log in", Buffer.from('<html lang="en"><head>')],
];

test.each(UNREADABLE)("%s, also inside of an archive", async (what, begin) => {
  const file = Buffer.concat([begin, Buffer.alloc(600, 7)]);
  await expect(contents(write("EURUSD.csv", file))).rejects.toThrow(`EURUSD.csv: ${what}`);
  await expect(contents(write("EURUSD.csv.gz", gzipSync(file)))).rejects.toThrow(what);
  await expect(contents(write("in.zip", zipOf({ "EURUSD.data": file })))).rejects.toThrow(`in.zip › EURUSD.data: ${what}`);
  await expect(contents(write("in.tgz", gzipSync(tarOf({ "EURUSD.csv": file }))))).rejects.toThrow(
    `in.tgz › EURUSD.csv: ${what}`,
  );
});

test("text that only begins similarly is read", async () => {
  for (const text of ["BZh,bid,ask\n", "Rar!\n", "<DATE>\t<TIME>\n", "%PDF\n", "7z\n", "<htmlish>\n"])
    expect((await contents(write("similar.csv", text))).texts).toEqual({ "similar.csv": text });
});

/** Changes a field of two bytes in the headers of an archive with one entry. */
function zipWith(local: number, central: number, value: number): Buffer {
  const zip = Buffer.from(zipOf({ "a.csv": TEXT }));
  zip.writeUInt16LE(value, local);
  zip.writeUInt16LE(value, zip.indexOf(Buffer.from("PK\u0001\u0002", "latin1")) + central);
  return zip;
}

test("an encrypted archive, or one that is packed in another way, is refused with what to do", async () => {
  for (const flags of [0x1, 0x41])
    await expect(contents(write("secret.zip", zipWith(6, 8, flags)))).rejects.toThrow(
      "it is encrypted: unpack it with its password",
    );
  await expect(contents(write("outer.zip", zipOf({ "secret.zip": zipWith(6, 8, 1) })))).rejects.toThrow(
    "outer.zip › secret.zip › a.csv: it is encrypted",
  );
  await expect(contents(write("64.zip", zipWith(8, 10, 9)))).rejects.toThrow("another method than deflate (9): unpack it");
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
  const [source] = (await createSourceFinder().sourcesOf(write("told.csv.gz", gzipSync(TEXT)))).sources;
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
  for (const name of ["others/a.csv.xz", "others/b.7z", "others/c.md"]) {
    await mkdir(path.join(folder, "others"), { recursive: true });
    await writeFile(path.join(folder, name), "");
  }
  expect((await filesOf([path.join(folder, "others")])).map((file) => path.basename(file))).toEqual(["a.csv.xz", "b.7z"]);
  await expect(filesOf([path.join(folder, "nowhere")])).rejects.toThrow("no such file");
});

/** A tar archive of these entries. */
function tarOf(entries: Readonly<Record<string, string | Buffer>>, type: "File" | "SymbolicLink" = "File"): Buffer {
  const blocks = Object.entries(entries).flatMap(([name, content]) => {
    const raw = Buffer.from(content);
    const header = new Header({
      path: name,
      size: type === "File" ? raw.length : 0,
      type,
      mode: 0o644,
      ...(type !== "File" && { linkpath: "a.csv" }),
    });
    const block = Buffer.alloc(512);
    header.encode(block);
    return type === "File" ? [block, raw, Buffer.alloc((512 - (raw.length % 512)) % 512)] : [block];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const INNER = { "a.csv": TEXT };
const PARQUET = Buffer.from(
  parquetWriteBuffer({
    columnData: [
      { name: "time", data: [1399237200462n] },
      { name: "bid", data: [1.387] },
      { name: "ask", data: [1.38745] },
    ],
  }),
);
const NESTED: [name: string, file: () => Buffer][] = [
  ["a tar archive", () => tarOf(INNER)],
  ["a gzipped tar archive", () => gzipSync(tarOf(INNER))],
  ["a gzipped file in a zip archive", () => zipOf({ "a.csv.gz": gzipSync(TEXT) })],
  ["a zip archive in a zip archive", () => zipOf({ "inner.zip": zipOf(INNER) })],
  ["a zip archive in a gzipped tar archive", () => gzipSync(tarOf({ "inner.zip": zipOf(INNER) }))],
  ["a tar archive in a zip archive", () => zipOf({ "inner.tgz": gzipSync(tarOf(INNER)) })],
  ["a Parquet file in a zip archive", () => zipOf({ "a.csv": PARQUET })],
  ["a gzipped Parquet file", () => gzipSync(PARQUET)],
];

test.each(NESTED)("%s gives the data of the file in it", async (_, file) => {
  expect(Object.values((await contents(write("packed", file()))).texts)).toEqual([TEXT]);
});

test("an entry of an archive in an archive is named with the way to it, and has its path", async () => {
  const file = write(
    "lean.zip",
    zipOf({ "oanda/minute/eurusd/20140501_quote.zip": zipOf({ "20140501_eurusd_minute_quote.csv": TEXT }) }),
  );
  const finder = createSourceFinder();
  expect((await finder.sourcesOf(file)).sources).toMatchObject([
    {
      name: `${file} › oanda/minute/eurusd/20140501_quote.zip › 20140501_eurusd_minute_quote.csv`,
      path: file.replace(".zip", "/oanda/minute/eurusd/20140501_quote/20140501_eurusd_minute_quote.csv"),
      file,
    },
  ]);
  await finder.close();
});

test("what is unpacked is removed at the end, also after a failure", async () => {
  const place = mkdtempSync(path.join(folder, "tmp-"));
  await contents(write("nested.zip", zipOf({ "inner.zip": zipOf(INNER) })), createScratch(undefined, place));
  const cut = write("cut.tar", tarOf(INNER).subarray(0, 530));
  await expect(contents(cut, createScratch(undefined, place))).rejects.toThrow("cut.tar: a damaged tar archive: Truncated input");
  expect(readdirSync(place)).toEqual([]);
});

test("archives too deep in each other, outside of their folder, with links, or cut off are refused with the reason", async () => {
  const deep = zipOf({ "1.zip": zipOf({ "2.zip": zipOf(INNER) }) });
  await expect(contents(write("deep.zip", deep))).rejects.toThrow("more than 2 archives in each other: unpack the outer one");
  for (const name of ["../a.csv", "/etc/a.csv", "x/../../a.csv"])
    await expect(contents(write("outside.tar", tarOf({ [name]: TEXT })))).rejects.toThrow("a file outside of its own folder");
  await expect(contents(write("link.tar", tarOf(INNER, "SymbolicLink")))).rejects.toThrow("a.csv is a SymbolicLink, not a file");
  await expect(contents(write("cut.tgz", gzipSync(tarOf(INNER).subarray(0, 530))))).rejects.toThrow("Truncated input");
  await expect(contents(write("half.tgz", gzipSync(tarOf(INNER)).subarray(0, 60)))).rejects.toThrow("cut off: copy or download");
});

test("an archive that unpacks to too much is refused", async () => {
  const scratch = createScratch(1_000);
  const finder = createSourceFinder(scratch);
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}.zip`, zipOf(INNER)]));
  await expect(finder.sourcesOf(write("much.zip", zipOf(many)))).rejects.toThrow("unpacks to more than 1000 bytes");
  await expect(finder.sourcesOf(write("much.tar", tarOf({ "a.csv": TEXT.repeat(50) })))).rejects.toThrow("unpacks to more than");
  await finder.close();
  await expect(contents(write("bomb.tgz", gzipSync(tarOf({ "a.csv": Buffer.alloc(60_000_000) }))))).rejects.toThrow(
    "decompresses to more than 250 times its size",
  );
});

test("what macOS adds to an archive is skipped", async () => {
  const file = write("mac.zip", zipOf({ "a.csv": TEXT, "__MACOSX/._a.csv": Buffer.from([0, 5, 22, 7]) }));
  expect(await contents(file)).toEqual({ skipped: ["._a.csv"], texts: { "a.csv": TEXT } });
});
