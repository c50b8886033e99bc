import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { rowsPerBlock } from "./blocks";
import { bytesOf, type Columns, columnsOf, ROW_BYTES } from "./columns";

/** Raise it with every change of the format, of what names a block, or of the size of a block. */
const VERSION = 1;
const FILE_NAME = "sandbox-days.json";

const Contents = z.object({ version: z.literal(VERSION), checksum: z.string(), days: z.record(z.string(), z.string()) });

const checksumOf = (days: Record<string, string>) => createHash("sha256").update(JSON.stringify(days)).digest("base64url");

/** Blocks of trading days by name. A name contains everything its prices depend on. */
export type DayBlocks = ReadonlyMap<string, Columns>;

/** The blocks that an earlier start left in a folder; none when the file is missing, damaged or of another version. */
export async function readDays(folder: string): Promise<DayBlocks> {
  try {
    const { checksum, days } = Contents.parse(JSON.parse(await readFile(path.join(folder, FILE_NAME), "utf8")));
    if (checksum !== checksumOf(days)) return new Map();
    return new Map(Object.entries(days).map(([name, text]) => [name, decode(text)]));
  } catch {
    // Whatever is wrong with the file, the days can be computed.
    return new Map();
  }
}

/** Leaves blocks for the next start, in one step: a reader sees the old file or the new one. @throws when it cannot */
export async function writeDays(folder: string, blocks: DayBlocks): Promise<void> {
  const days = Object.fromEntries([...blocks].map(([name, columns]) => [name, Buffer.from(bytesOf(columns)).toString("base64")]));
  const file = path.join(folder, FILE_NAME);
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(draft, JSON.stringify({ version: VERSION, checksum: checksumOf(days), days }));
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

function decode(text: string): Columns {
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  if (bytes.byteLength !== rowsPerBlock("D1") * ROW_BYTES) throw new RangeError("not a block of days");
  return columnsOf(new Float64Array(bytes.buffer));
}
