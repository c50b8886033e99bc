import type { z } from "zod";
import { damaged } from "./format";

/** A line of ours is short; a longer one is not ours. */
const LINE_MAX_BYTES = 1_000_000;
const NEWLINE = 0x0a;
/** The end of the rows, with the newline before it that ends the last of them. */
const MARK = Buffer.from("\n\\.\n");

/** Reads a backup's text once from front to back, holding no more of it than a chunk. */
export interface BackupReader {
  /** @throws BackupError when the next line is not what `schema` asks for */
  line<Output>(schema: z.ZodType<Output>): Promise<Output>;
  /** Rows of a table, in pieces; to be read to their end before the next line. */
  rows(): AsyncGenerator<Buffer>;
  /** @throws BackupError when there is more to come, or what came fails its checksum */
  end(): Promise<void>;
}

/** Words for what zlib makes of a bad file; other errors as they are. */
function inWords(error: unknown): unknown {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return damaged("it ends too early");
  return code.startsWith("Z_") ? damaged(message) : error;
}

/** Reads what `chunks` gives: the unzipped text of a backup. */
export function createBackupReader(chunks: AsyncIterable<Buffer>): BackupReader {
  const source = chunks[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function next(): Promise<Buffer | undefined> {
    try {
      const { value, done } = await source.next();
      return done ? undefined : value;
    } catch (error) {
      throw inWords(error);
    }
  }

  async function line<Output>(schema: z.ZodType<Output>): Promise<Output> {
    let at = held.indexOf(NEWLINE);
    while (at < 0) {
      const chunk = await next();
      if (chunk === undefined) throw damaged("it ends too early");
      held = Buffer.concat([held, chunk]);
      if (held.length > LINE_MAX_BYTES + chunk.length) throw damaged("a line is too long");
      at = held.indexOf(NEWLINE);
    }
    const text = held.toString("utf8", 0, at);
    held = held.subarray(at + 1);
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      throw damaged("a line is not what it should be");
    }
  }

  async function* rows(): AsyncGenerator<Buffer> {
    // The line before ended with a newline: put back in front, an empty table looks like any other.
    let window = Buffer.concat([Buffer.of(NEWLINE), held]);
    let given = 1;
    for (;;) {
      const at = window.indexOf(MARK);
      const until = at < 0 ? Math.max(given, window.length - MARK.length + 1) : at + 1;
      if (until > given) yield window.subarray(given, until);
      if (at >= 0) {
        held = window.subarray(at + MARK.length);
        return;
      }
      const chunk = await next();
      if (chunk === undefined) throw damaged("it ends too early");
      // The mark may begin in what was given already: its newline ends a row.
      const kept = Math.max(0, Math.min(until, window.length - MARK.length + 1));
      window = Buffer.concat([window.subarray(kept), chunk]);
      given = until - kept;
    }
  }

  async function end(): Promise<void> {
    if (held.length > 0 || (await next()) !== undefined) throw damaged("something follows its end");
  }

  return { line, rows, end };
}
