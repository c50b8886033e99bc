import type { z } from "zod";
import { damaged } from "./format";

/** Longest JSON line of a backup; a longer one means a damaged file. */
const LINE_MAX_BYTES = 1_000_000;
const NEWLINE = 0x0a;
/** The end mark of the rows, including the newline of the last row. */
const MARK = Buffer.from("\n\\.\n");

/** Reads a backup's text once from start to end, with at most a chunk in memory. */
export interface BackupReader {
  /** @throws BackupError when the next line does not match `schema` */
  line<Output>(schema: z.ZodType<Output>): Promise<Output>;
  /** Rows of a table, in pieces; read all of them before the next line. */
  rows(): AsyncGenerator<Buffer>;
  /** @throws BackupError when data follows, or the checksum of gzip does not match */
  end(): Promise<void>;
}

/** Converts zlib's errors for a bad file to BackupError; returns other errors unchanged. */
function inWords(error: unknown): unknown {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return damaged("it is truncated");
  return code.startsWith("Z_") ? damaged(message) : error;
}

/** Makes a reader of `chunks`, the decompressed text of a backup. */
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
      if (chunk === undefined) throw damaged("it is truncated");
      held = Buffer.concat([held, chunk]);
      if (held.length > LINE_MAX_BYTES + chunk.length) throw damaged("a line is too long");
      at = held.indexOf(NEWLINE);
    }
    const text = held.toString("utf8", 0, at);
    held = held.subarray(at + 1);
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      throw damaged("a line is not valid");
    }
  }

  async function* rows(): AsyncGenerator<Buffer> {
    // Puts back the newline of the previous line, so that an empty table needs no special case.
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
      if (chunk === undefined) throw damaged("it is truncated");
      // The end mark may begin in the previous piece, because its newline ends a row.
      const kept = Math.max(0, Math.min(until, window.length - MARK.length + 1));
      window = Buffer.concat([window.subarray(kept), chunk]);
      given = until - kept;
    }
  }

  async function end(): Promise<void> {
    if (held.length > 0 || (await next()) !== undefined) throw damaged("data follows its end");
  }

  return { line, rows, end };
}
