import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import {
  UPLOAD_FILES_MAX_COUNT,
  UPLOAD_IDLE_MAX_S,
  UPLOAD_LINES_MAX_COUNT,
  UPLOAD_PART_MAX_BYTES,
} from "#lib/contract/portal-import";
import { collectingLog } from "#lib/testing/collecting-log";
import { SECOND_MS } from "#lib/units";
import { createUploads, type Uploads } from "./uploads";

const ADA = { id: "1", email: "ada@example.test" };
const BOB = { id: "2", email: "bob@example.test" };
const TRIAL = { dry_run: true, ticker: null, accept_doubts: false };

let home: string;
let folder: string;
let clock: ManualClock;
let uploads: Uploads;
/** The command as it was started last. */
let command: { args: readonly string[]; line: (text: string) => void; end: (code: number | null) => void; stopped: boolean };

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "uploads-"));
  folder = join(home, "uploads");
  clock = manualClock(0);
  uploads = make();
});
afterEach(() => rm(home, { recursive: true, force: true }));

function make(reserveBytes = 0): Uploads {
  return createUploads({
    folder,
    reserveBytes,
    clock,
    log: collectingLog([], "warn"),
    start(args, line) {
      let end: (code: number | null) => void = () => undefined;
      const ended = new Promise<number | null>((resolve) => {
        end = resolve;
      });
      command = { args, line, end, stopped: false };
      const stop = () => {
        command.stopped = true;
        end(1);
      };
      return { ended, stop };
    },
  });
}

const part = (body: string | Uint8Array) => new Request("http://localhost/", { method: "PUT", body: body as BodyInit });
const add = (name: string, offset: number, body: string | Uint8Array, user = ADA) =>
  uploads.add(user.id, name, offset, part(body));
const conflict = (detail: RegExp) => expect.objectContaining({ id: "conflict", message: expect.stringMatching(detail) });
const state = () => uploads.report(ADA.id).state;

test("a file comes in parts, each at the end of it, and is imported by the command", async () => {
  await uploads.begin(ADA);
  await add("EURUSD.csv", 0, "one,");
  await expect(add("EURUSD.csv", 9, "three")).rejects.toEqual(conflict(/has 4 bytes so far/));
  expect((await add("EURUSD.csv", 4, "two")).files).toEqual([{ name: "EURUSD.csv", bytes: 7 }]);
  expect(await readFile(join(folder, "EURUSD.csv"), "utf8")).toBe("one,two");
  uploads.run(ADA.id, TRIAL);
  expect(command.args).toEqual(["--dry-run", "--", join(folder, "EURUSD.csv")]);
  command.line("  importing: 40%, 10 rows, 5 rows/s, 2 s left");
  command.line(`${join(folder, "EURUSD.csv")}: klines`);
  expect(uploads.report(ADA.id)).toMatchObject({ state: "trial", share: 0.4, lines: ["EURUSD.csv: klines"], outcome: null });
  expect(() => uploads.run(ADA.id, TRIAL)).toThrow("cannot be imported now");
  command.end(3);
  await vi.waitFor(() => expect(state()).toBe("tried"));
  expect(uploads.report(ADA.id)).toMatchObject({ outcome: "doubtful", share: null });
  uploads.run(ADA.id, { dry_run: false, ticker: "EURUSD", accept_doubts: true });
  expect(command.args.slice(0, 4)).toEqual(["--accept-doubts", "--ticker", "EURUSD", "--"]);
  command.line("This is import 12. To undo it: npm run import -- undo 12");
  command.end(0);
  await vi.waitFor(() => expect(state()).toBe("imported"));
  expect(uploads.report(ADA.id)).toMatchObject({ outcome: "well", number: 12, lines: [] });
  expect(await uploads.end(ADA.id)).toMatchObject({ state: "none" });
  expect(existsSync(folder)).toBe(false);
});

test("names, sizes, counts and lines have bounds, and what is past them changes nothing", async () => {
  await uploads.begin(ADA);
  for (const name of ["../EURUSD.csv", ".env", "a/b.csv", "-rf", "", `${"x".repeat(121)}`])
    await expect(add(name, 0, "x"), name).rejects.toMatchObject({ id: "invalid_parameter" });
  await expect(add("EURUSD.csv", 0, new Uint8Array(UPLOAD_PART_MAX_BYTES + 1))).rejects.toMatchObject({
    id: "payload_too_large",
  });
  for (let count = 0; count < UPLOAD_FILES_MAX_COUNT; count += 1) await add(`${count}.csv`, 0, "x");
  await expect(add("more.csv", 0, "x")).rejects.toMatchObject({ id: "payload_too_large" });
  expect(await readdir(folder)).toHaveLength(UPLOAD_FILES_MAX_COUNT);
  uploads.run(ADA.id, TRIAL);
  for (let count = 0; count < UPLOAD_LINES_MAX_COUNT + 3; count += 1) command.line("line");
  expect(uploads.report(ADA.id).lines).toHaveLength(UPLOAD_LINES_MAX_COUNT);
  expect(uploads.report(ADA.id).more_lines).toBe(3);
});

test("a part that arrives after its files were discarded is in no file of the next upload", async () => {
  await uploads.begin(ADA);
  let send: ReadableStreamDefaultController | undefined;
  const body = new ReadableStream({
    start(controller) {
      send = controller;
    },
  });
  const late = uploads.add(
    ADA.id,
    "EURUSD.csv",
    0,
    new Request("http://localhost/", { method: "PUT", body, duplex: "half" } as RequestInit),
  );
  await uploads.begin(ADA);
  await add("EURUSD.csv", 0, "new");
  send?.enqueue(new TextEncoder().encode("old"));
  send?.close();
  await expect(late).rejects.toEqual(conflict(/discarded/));
  expect(await readFile(join(folder, "EURUSD.csv"), "utf8")).toBe("new");
});

test("a full disk takes no more files", async () => {
  uploads = make(Number.MAX_SAFE_INTEGER);
  await uploads.begin(ADA);
  await expect(add("EURUSD.csv", 0, "x")).rejects.toEqual(conflict(/no room/));
});

test("one operator imports at a time, and files that nobody imports are deleted after an hour", async () => {
  await expect(add("EURUSD.csv", 0, "x")).rejects.toMatchObject({ id: "not_found" });
  await uploads.begin(ADA);
  await add("EURUSD.csv", 0, "x");
  expect(uploads.report(BOB.id).state).toBe("none");
  await expect(uploads.begin(BOB)).rejects.toEqual(conflict(/ada@example\.test imports files now/));
  await expect(uploads.end(BOB.id)).rejects.toEqual(conflict(/ada/));
  await clock.advance(UPLOAD_IDLE_MAX_S * SECOND_MS);
  await vi.waitFor(() => expect(existsSync(folder)).toBe(false));
  expect((await uploads.begin(BOB)).state).toBe("open");
});

test("ending it stops the command before its files are deleted, and a start deletes what an earlier process left", async () => {
  await uploads.begin(ADA);
  await add("EURUSD.csv", 0, "x");
  uploads.run(ADA.id, { ...TRIAL, dry_run: false });
  await expect(uploads.begin(ADA)).rejects.toEqual(conflict(/An import runs/));
  await uploads.end(ADA.id);
  expect(command.stopped).toBe(true);
  await uploads.begin(ADA);
  await add("left.csv", 0, "x");
  uploads = make();
  await uploads.begin(BOB);
  expect(await readdir(folder)).toEqual([]);
});
