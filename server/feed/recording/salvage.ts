import { createReadStream, createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { pipeline as pipelined } from "node:stream/promises";
import { constants, createGunzip, createGzip } from "node:zlib";
import { RECORDING_COLUMNS } from "#server/import/formats/recording";

/** The first line of a recording. */
export const HEADER_LINE = `${RECORDING_COLUMNS.join()}\n`;
/** The end of the name of a file that is being rewritten. */
export const REWRITTEN = ".tmp";
const NEWLINE = 0x0a;
/** A damaged piece gives nothing, so where one is damaged, small ones are read. */
const PIECES_BYTES = [65_536, 16];

function unpacked(file: string, finishFlush: number, highWaterMark?: number): AsyncIterable<Buffer> {
  const packed = createReadStream(file, { highWaterMark });
  // An error in either stream reaches the reader of the second.
  return pipeline(packed, createGunzip({ finishFlush }), () => undefined) as Readable as AsyncIterable<Buffer>;
}

/** Whether a recording can be read to its end, and ends with a whole row. */
export async function isIntact(file: string): Promise<boolean> {
  let last: number | undefined;
  try {
    for await (const chunk of unpacked(file, constants.Z_FINISH)) last = chunk.at(-1);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
  return last === NEWLINE;
}

function isDamage(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
}

/** What can be read of a recording. */
async function* textOf(file: string): AsyncGenerator<Buffer> {
  let given = 0;
  for (const pieceBytes of PIECES_BYTES) {
    let at = 0;
    try {
      for await (const chunk of unpacked(file, constants.Z_SYNC_FLUSH, pieceBytes)) {
        const fresh = chunk.subarray(Math.max(0, given - at));
        at += chunk.length;
        given = Math.max(given, at);
        if (fresh.length > 0) yield fresh;
      }
      return;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
}

/** The whole rows that can be read of a recording. */
async function* rowsOf(file: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  let begun = false;
  for await (const chunk of textOf(file)) {
    const text = Buffer.concat([rest, chunk]);
    const end = text.lastIndexOf(NEWLINE) + 1;
    rest = text.subarray(end);
    if (end === 0) continue;
    const from = !begun && text.toString("latin1", 0, HEADER_LINE.length) === HEADER_LINE ? HEADER_LINE.length : 0;
    begun = true;
    yield text.subarray(from, end);
  }
}

/** Writes what can be read of some recordings to one that is intact. */
export async function rewrite(files: readonly string[], target: string): Promise<void> {
  async function* rows() {
    yield Buffer.from(HEADER_LINE);
    for (const file of files) yield* rowsOf(file);
  }
  await pipelined(rows, createGzip(), createWriteStream(`${target}${REWRITTEN}`));
  await rename(`${target}${REWRITTEN}`, target);
}
