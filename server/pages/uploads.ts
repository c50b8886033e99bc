import { appendFile, mkdir, rm, statfs } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { Clock } from "#lib/clock";
import {
  UPLOAD_FILES_MAX_COUNT,
  UPLOAD_IDLE_MAX_S,
  UPLOAD_LINES_MAX_COUNT,
  UPLOAD_MAX_BYTES,
  UPLOAD_PART_MAX_BYTES,
  UploadName,
  type UploadReport,
  type UploadRunForm,
} from "#lib/contract/portal-import";
import { Fault, requireValid } from "#lib/fault";
import type { Logger } from "#lib/log";
import { SECOND_MS } from "#lib/units";

/** A running import of the importer's own command. */
export interface RunningImport {
  /** Resolves to its exit code, null when it was killed. */
  readonly ended: Promise<number | null>;
  /** Lets it end at the next row; what is stored stays. */
  stop(): void;
}

interface UploadsOptions {
  /** Where files are kept while they are imported; nothing else is in it. */
  readonly folder: string;
  /** So much of the disk stays free, bytes. */
  readonly reserveBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs the command with these arguments. */
  readonly start: (args: readonly string[], onLine: (line: string) => void) => RunningImport;
}

/** The files of one operator. */
interface Upload {
  readonly userId: string;
  readonly email: string;
  readonly bytes: Map<string, number>;
  state: Exclude<UploadReport["state"], "none">;
  lines: string[];
  moreLines: number;
  share: number | null;
  outcome: UploadReport["outcome"];
  number: number | null;
  running?: RunningImport | undefined;
  /** A part is being written. */
  writing: boolean;
  idle: AbortController;
}

/** The exit codes of the command, as `npm run import -- --help` says. */
const DONE = 0;
const UNSURE = 3;
/** What the command prints now and then where it has no terminal. */
const PROGRESS = /^ {2}[^:]+: (\d{1,3})%, /;
const NUMBER = /^This is import (\d+)\. /;

const NONE: UploadReport = {
  state: "none",
  files: [],
  lines: [],
  more_lines: 0,
  share: null,
  outcome: null,
  number: null,
};

/** @throws Fault payload_too_large past UPLOAD_PART_MAX_BYTES, without reading the rest; invalid_parameter when the body ends early */
async function readPart({ body }: Request): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of Readable.fromWeb(body as WebStream)) {
      bytes += chunk.byteLength;
      if (bytes > UPLOAD_PART_MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Fault("invalid_parameter", { detail: "The part ended early. Send it again." });
  }
  if (bytes > UPLOAD_PART_MAX_BYTES)
    throw new Fault("payload_too_large", {
      detail: `A part must have at most ${UPLOAD_PART_MAX_BYTES} bytes.`,
      max: UPLOAD_PART_MAX_BYTES,
    });
  return Buffer.concat(chunks);
}

const conflict = (detail: string) => new Fault("conflict", { detail });

/** Files that operators drop on a page, imported by the command: those of one operator at a time. */
export type Uploads = ReturnType<typeof createUploads>;

/** Makes the place where operators' files wait for their import. What an earlier process left is deleted. */
export function createUploads({ folder, reserveBytes, clock, log, start }: UploadsOptions) {
  let current: Upload | undefined;
  /** The folder is changed by one after another. */
  let ready: Promise<void> = rm(folder, { recursive: true, force: true });

  function clear(upload: Upload): Promise<void> {
    upload.idle.abort();
    upload.running?.stop();
    if (current === upload) current = undefined;
    const ended = upload.running?.ended ?? Promise.resolve(null);
    ready = Promise.all([ready, ended]).then(() => rm(folder, { recursive: true, force: true }));
    return ready;
  }

  /** Begins to wait for what the operator does next. */
  function touch(upload: Upload): void {
    upload.idle.abort();
    upload.idle = new AbortController();
    const { signal } = upload.idle;
    void clock.wait(UPLOAD_IDLE_MAX_S * SECOND_MS, signal).then(async () => {
      if (signal.aborted) return;
      log.info({ files: upload.bytes.size }, "uploaded files that nobody imported are deleted");
      await clear(upload);
    });
  }

  /** @throws Fault conflict for another operator's files, not_found where there are none */
  function own(userId: string): Upload {
    if (current === undefined) throw new Fault("not_found", { detail: "There are no uploaded files. Choose them again." });
    if (current.userId !== userId) throw conflict(`${current.email} imports files now. Try again when that is done.`);
    return current;
  }

  function report(userId: string): UploadReport {
    if (current === undefined || current.userId !== userId) return NONE;
    const { state, bytes, lines, moreLines, share, outcome, number } = current;
    const files = [...bytes].map(([name, size]) => ({ name, bytes: size }));
    return { state, files, lines, more_lines: moreLines, share, outcome, number };
  }

  function take(upload: Upload, line: string): void {
    const share = PROGRESS.exec(line)?.[1];
    if (share !== undefined) {
      upload.share = Number(share) / 100;
      return;
    }
    upload.number = Number(NUMBER.exec(line)?.[1] ?? 0) || upload.number;
    // Its page has a button for it.
    if (NUMBER.test(line)) return;
    if (upload.lines.length < UPLOAD_LINES_MAX_COUNT) upload.lines.push(line.replaceAll(folder + path.sep, ""));
    else upload.moreLines += 1;
  }

  return {
    report,

    /** Begins with no files. @throws Fault conflict while another operator imports files, or these are imported */
    async begin({ id, email }: { readonly id: string; readonly email: string }): Promise<UploadReport> {
      if (current !== undefined) own(id);
      if (current?.running !== undefined) throw conflict("An import runs. Cancel it first.");
      const before = current;
      const upload: Upload = {
        userId: id,
        email,
        bytes: new Map(),
        state: "open",
        lines: [],
        moreLines: 0,
        share: null,
        outcome: null,
        number: null,
        writing: false,
        idle: new AbortController(),
      };
      if (before !== undefined) void clear(before);
      current = upload;
      touch(upload);
      await ready;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return report(id);
    },

    /**
     * Adds a part to the end of a file.
     * @throws Fault invalid_parameter for a name, conflict for another place or time, payload_too_large past a bound
     */
    async add(userId: string, name: string, offset: number, request: Request): Promise<UploadReport> {
      const upload = own(userId);
      requireValid(UploadName, name);
      if (upload.state !== "open" || upload.writing) throw conflict("Files cannot be added now.");
      const before = upload.bytes.get(name) ?? 0;
      if (offset !== before) throw conflict(`${name} has ${before} bytes so far, and this part begins at ${offset}.`);
      if (before === 0 && upload.bytes.size >= UPLOAD_FILES_MAX_COUNT)
        throw new Fault("payload_too_large", {
          detail: `At most ${UPLOAD_FILES_MAX_COUNT} files at once. Put them into a .zip archive.`,
          max: UPLOAD_FILES_MAX_COUNT,
        });
      upload.writing = true;
      touch(upload);
      try {
        const part = await readPart(request);
        const total = [...upload.bytes.values()].reduce((sum, bytes) => sum + bytes, part.byteLength);
        if (total > UPLOAD_MAX_BYTES)
          throw new Fault("payload_too_large", {
            detail: `All files together may have at most ${UPLOAD_MAX_BYTES} bytes. Import larger ones with npm run import.`,
            max: UPLOAD_MAX_BYTES,
          });
        const { bavail, bsize } = await statfs(folder);
        if (bavail * bsize < part.byteLength + reserveBytes)
          throw conflict("The disk of DATA_DIR has no room for these files. Free some, or import them with npm run import.");
        if (upload !== current) throw conflict("These files were discarded in the meantime.");
        await appendFile(path.join(folder, name), part);
        upload.bytes.set(name, before + part.byteLength);
      } finally {
        upload.writing = false;
      }
      return report(userId);
    },

    /** Starts a trial or an import of all files. @throws Fault conflict while there is nothing to run, or it runs */
    run(userId: string, { dry_run, ticker, accept_doubts }: UploadRunForm): UploadReport {
      const upload = own(userId);
      if (upload.running !== undefined || upload.writing || upload.state === "imported")
        throw conflict("These files cannot be imported now.");
      if (upload.bytes.size === 0) throw conflict("Choose files first.");
      upload.idle.abort();
      Object.assign(upload, { state: dry_run ? "trial" : "import", lines: [], moreLines: 0, share: null, outcome: null });
      const options = [
        ...(dry_run ? ["--dry-run"] : []),
        ...(accept_doubts ? ["--accept-doubts"] : []),
        ...(ticker === null ? [] : ["--ticker", ticker]),
      ];
      const files = [...upload.bytes.keys()].map((name) => path.join(folder, name));
      const running = start([...options, "--", ...files], (line) => take(upload, line));
      upload.running = running;
      void running.ended.then((code) => {
        upload.running = undefined;
        upload.state = dry_run ? "tried" : "imported";
        upload.outcome = code === DONE ? "well" : code === UNSURE ? "doubtful" : "failed";
        upload.share = null;
        if (current === upload) touch(upload);
      });
      return report(userId);
    },

    /** Stops what runs, and deletes the files. Of an import that runs, nothing shows; the same files continue it. */
    async end(userId: string): Promise<UploadReport> {
      if (current !== undefined) await clear(own(userId));
      return NONE;
    },

    /** Ends it with its process. */
    async stop(): Promise<void> {
      if (current !== undefined) await clear(current);
    },
  };
}
