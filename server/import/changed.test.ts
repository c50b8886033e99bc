import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { emptyHistory, hurriedClock, importCommand, storedKlines } from "#server/testing/import-command";

/** What is stored is what was judged, or nothing: a file that changes between its readings. */

let db: TestDatabase;
let folder: string;
beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-changed-"));
  await emptyHistory(db);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => db.close());

const COUNT = 32_000;
/** Fewer than the file has, so that it is read a second time, and stored in several parts. */
const BOUNDS = { batchKlines: 2_000, keptKlines: 1_000 };

/** Minutes over several months. The volume of each tells two files of the same prices apart. */
function minutes(count: number, volumeOf = (_minute: number) => 5): string {
  const rows = Array.from({ length: count }, (_, minute) => {
    const time = Date.UTC(2024, 2, 20) / 1_000 + minute * 60;
    return `${time},1.1,1.101,1.099,${(1.1 + (minute % 9) / 1e5).toFixed(5)},${volumeOf(minute)}`;
  });
  return `time,open,high,low,close,tick_volume\n${rows.join("\n")}\n`;
}

/** Rows that are neither at the beginning nor at the end of the file, which tell files apart before they are read. */
const middle = (minute: number) => (minute >= COUNT / 2 && minute < COUNT - 3_000 ? 7 : 5);

const CHANGES: readonly (readonly [how: string, change: (file: string) => void, volumes: readonly number[]])[] = [
  [
    "rewritten with other values",
    (file) => writeFileSync(file, minutes(COUNT, middle)),
    Array.from({ length: COUNT }, (_, row) => middle(row)),
  ],
  [
    "appended to",
    (file) =>
      appendFileSync(
        file,
        minutes(COUNT + 1)
          .split("\n")
          .slice(-2)
          .join("\n"),
      ),
    new Array(COUNT + 1).fill(5),
  ],
  ["cut off", (file) => writeFileSync(file, minutes(COUNT / 2)), new Array(COUNT / 2).fill(5)],
  [
    "replaced with other rows",
    (file) =>
      writeFileSync(
        file,
        minutes(3_000, () => 6),
      ),
    new Array(3_000).fill(6),
  ],
];

const volumes = async () => (await storedKlines(db, "EURUSD", "M1")).map(({ tick_volume }) => tick_volume);

async function requireNothingKept(): Promise<void> {
  for (const table of ["history_layer", "history_visible", "import_job"])
    expect([table, (await db.pool.query(`SELECT FROM ${table}`)).rowCount]).toEqual([table, 0]);
  const { pending, undoneAt, state } = await db.prisma.backfill.findFirstOrThrow({ orderBy: { number: "desc" } });
  expect([pending, undoneAt !== null, state]).toEqual([false, true, "failed"]);
}

describe.each(CHANGES)("a file that is %s", (_, change, expected) => {
  /** The same command, once the file stays as it is. */
  async function requireNew(argv: readonly string[]): Promise<void> {
    const { exitCode, text } = await importCommand(db, argv, { clock: hurriedClock(), ...BOUNDS });
    expect([exitCode, text]).toEqual([0, expect.not.stringContaining("resumed")]);
    expect(await volumes()).toEqual(expected);
  }

  test("between being checked and being stored leaves nothing, and can be imported as it is then", async () => {
    const file = path.join(folder, "EURUSD.csv");
    writeFileSync(file, minutes(COUNT));
    const argv = [file, "--accept-doubts"];
    let changed = false;
    const { exitCode, text } = await importCommand(db, argv, {
      clock: hurriedClock(),
      ...BOUNDS,
      interruptAt(line) {
        if (!changed && line.includes("importing:")) {
          change(file);
          changed = true;
        }
        return false;
      },
    });
    expect([changed, exitCode]).toEqual([true, 1]);
    expect(text).toContain(`${file} changed while it was imported: what was read to be stored is not what was checked`);
    expect(text).toContain("Nothing of the import shows, and nothing of it is kept");
    await requireNothingKept();
    await requireNew(argv);
  });

  test("before an import of it is continued leaves nothing, and can be imported as it is then", async () => {
    const file = path.join(folder, "EURUSD.csv");
    writeFileSync(file, minutes(COUNT));
    const argv = [file, "--accept-doubts"];
    const stopping = /importing: [5-9]\d%/;
    await importCommand(db, argv, { clock: hurriedClock(), ...BOUNDS, interruptAt: (line) => stopping.test(line) });
    expect((await db.pool.query("SELECT FROM import_job WHERE rows > 0 AND NOT done")).rowCount).toBe(1);
    change(file);
    const { exitCode, text } = await importCommand(db, argv, { clock: hurriedClock(), ...BOUNDS });
    expect([exitCode, text]).toEqual([1, expect.stringMatching(/is not the file whose first [\d,]+ rows an earlier run stored/)]);
    await requireNothingKept();
    await requireNew(argv);
  });
});

test("what is stored of other files of the import does not show either", async () => {
  const [other, file] = [path.join(folder, "GBPUSD.csv"), path.join(folder, "EURUSD.csv")];
  writeFileSync(other, minutes(600));
  writeFileSync(file, minutes(COUNT));
  let changed = false;
  const { exitCode } = await importCommand(db, [other, file, "--accept-doubts"], {
    clock: hurriedClock(),
    ...BOUNDS,
    interruptAt(line) {
      // The small file has one chunk.
      if (!changed && /importing: [3-9]\d%/.test(line)) {
        appendFileSync(file, "\n");
        changed = true;
      }
      return false;
    },
  });
  expect([changed, exitCode]).toEqual([true, 1]);
  await requireNothingKept();
});
