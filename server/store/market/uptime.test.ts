import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { INCIDENT_MIN_MINUTES, INCIDENT_NOTES_MAX_COUNT, INCIDENTS_MAX_COUNT, UPTIME_DAYS } from "#lib/contract/uptime";
import { isFault } from "#lib/fault";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { addNote, deleteNote, editNote, listNotes, type NotesAdmin } from "./incident-notes";
import { noteMeasured } from "./measured-incidents";
import { createUptime } from "./uptime";

const NOW_MS = TEST_START_MS;

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
beforeEach(async () => {
  t.clock.set(NOW_MS);
  await t.db.pool.query("DELETE FROM health_sample");
  await t.db.pool.query("DELETE FROM incident_note");
});
afterAll(() => t.close());

/** Samples of a part of the time, minute by minute, which end so long before now. */
interface Span {
  readonly endsBeforeMs: number;
  readonly minutes: number;
  readonly rest?: boolean;
  readonly stream?: boolean;
  /** Of ten instruments of the live venue. */
  readonly fresh?: number;
}

async function sample({ endsBeforeMs, minutes, rest = true, stream = true, fresh = 10 }: Span): Promise<void> {
  const last = new Date(NOW_MS - endsBeforeMs - MINUTE_MS);
  await t.db.pool.query(
    `INSERT INTO health_sample (at, venue, rest, stream, expected, fresh)
     SELECT $1::timestamptz - i * interval '1 minute', venue, $3, $4, 10, CASE venue WHEN 'live' THEN $5::int ELSE 10 END
       FROM generate_series(0, $2::int - 1) i, unnest(ARRAY['live', 'sandbox']) venue`,
    [last, minutes, rest, stream, fresh],
  );
}

const report = () => createUptime(t)();

describe("uptime by day", () => {
  test("uptime counts the minutes of each of ninety days, and those in which a part was well", async () => {
    await sample({ endsBeforeMs: 0, minutes: 5 });
    await sample({ endsBeforeMs: 3 * DAY_MS, minutes: 60, rest: false });
    const { days } = await report();
    expect(days.rest).toHaveLength(UPTIME_DAYS);
    expect(days.from_ms % DAY_MS).toBe(0);
    const seen = days.rest.flatMap(({ minutes, well }) => (minutes === 0 ? [] : [[minutes, well]]));
    expect(seen).toEqual([
      [60, 0],
      [5, 5],
    ]);
    expect(days.feeds.live.at(-1)).toEqual({ minutes: 5, well: 5, idle: 0, not_bound: 0, down: 0 });
  });
});

/** The incidents after a look at the samples, the latest start first. */
async function noticed(nowMs = NOW_MS, quietMs: number | null = null): Promise<[string | null, number, number | null][]> {
  await noteMeasured(t.db.pool, nowMs, NOW_MS - (UPTIME_DAYS - 1) * DAY_MS, { live: quietMs, sandbox: null });
  const minutesAgo = (iso: string) => (NOW_MS - Date.parse(iso)) / MINUTE_MS;
  const notes = (await listNotes(t.db)).map(({ part, starts_at, ends_at }): [string | null, number, number | null] => {
    return [part, minutesAgo(starts_at), ends_at === null ? null : minutesAgo(ends_at)];
  });
  return notes.sort(([, one], [, other]) => one - other);
}

describe("incidents", () => {
  test("a part that failed for a while has an incident; a few minutes, or one quiet instrument, are none", async () => {
    await sample({ endsBeforeMs: 0, minutes: 30 });
    await sample({ endsBeforeMs: 30 * MINUTE_MS, minutes: INCIDENT_MIN_MINUTES, stream: false });
    await sample({ endsBeforeMs: 40 * MINUTE_MS - 7 * MINUTE_MS, minutes: 7 });
    await sample({ endsBeforeMs: 40 * MINUTE_MS, minutes: INCIDENT_MIN_MINUTES - 1, rest: false });
    await sample({ endsBeforeMs: 42 * MINUTE_MS, minutes: 10, fresh: 9 });
    await sample({ endsBeforeMs: 52 * MINUTE_MS, minutes: 10, fresh: 4 });
    expect(await noticed()).toEqual([
      ["stream", 33, 30],
      ["live", 62, 52],
    ]);
  });

  test("a feed that is away while a market is open has an incident with its cause, and none while markets are closed", async () => {
    const state = "UPDATE health_sample SET state = $1, away = true WHERE venue = 'live'";
    await sample({ endsBeforeMs: 0, minutes: 20 });
    await t.db.pool.query(state, ["closed"]);
    expect(await noticed()).toEqual([]);
    await t.db.pool.query(state, ["not_bound"]);
    expect(await noticed()).toEqual([]);
    await t.db.pool.query(state, ["down"]);
    expect(await noticed()).toEqual([["live", 20, null]]);
    const [note] = await listNotes(t.db);
    expect(note).toMatchObject({ automatic: true, title: "Live prices unavailable", impact: "degraded" });
    expect(note?.text).toBe("No connection to the provider while a market was open.");
  });

  test("the cause of a feed that was down counts the instruments of its worst minute", async () => {
    await sample({ endsBeforeMs: 3 * MINUTE_MS, minutes: 10, fresh: 4 });
    await noticed(NOW_MS - 3 * MINUTE_MS);
    const text = async () => (await listNotes(t.db))[0]?.text;
    expect(await text()).toBe("6 of 10 instruments were without prices while their market was open.");
    await sample({ endsBeforeMs: 0, minutes: 3, fresh: 0 });
    await noticed();
    expect(await text()).toBe("All 10 instruments were without prices while their market was open.");
  });

  test("an incident ends with the first minute that is known to be no failure, such as one without a provider", async () => {
    await sample({ endsBeforeMs: MINUTE_MS, minutes: 10, fresh: 0 });
    await sample({ endsBeforeMs: 0, minutes: 1 });
    await t.db.pool.query("UPDATE health_sample SET state = 'not_bound', expected = 0 WHERE venue = 'live' AND at = $1", [
      new Date(NOW_MS - MINUTE_MS),
    ]);
    expect(await noticed()).toEqual([["live", 11, 1]]);
  });

  test("an incident lasts while its part still fails, and one that paused shortly is one", async () => {
    await sample({ endsBeforeMs: 0, minutes: 4, rest: false });
    await sample({ endsBeforeMs: 4 * MINUTE_MS, minutes: 2 });
    await sample({ endsBeforeMs: 6 * MINUTE_MS, minutes: 4, rest: false });
    expect(await noticed()).toEqual([["rest", 10, null]]);
    // Two nodes see the same.
    await Promise.all([noticed(), noticed()]);
    expect(await noticed(NOW_MS + 2 * MINUTE_MS)).toEqual([["rest", 10, 0]]);
  });

  test("an outage begins with the last fresh price, before it was measured; one that is over, with its first minute", async () => {
    await sample({ endsBeforeMs: 0, minutes: 4, fresh: 0 });
    await sample({ endsBeforeMs: 4 * MINUTE_MS, minutes: 10 });
    await sample({ endsBeforeMs: 14 * MINUTE_MS, minutes: 4, fresh: 0 });
    expect(await noticed(NOW_MS, NOW_MS - 5.5 * MINUTE_MS)).toEqual([
      ["live", 5.5, null],
      ["live", 18, 14],
    ]);
    // What was told once stays.
    expect((await noticed())[0]).toEqual(["live", 5.5, null]);
  });

  test("an incident that began before the samples that are read is known, and ends", async () => {
    await sample({ endsBeforeMs: 0, minutes: 90, stream: false });
    await noticed();
    await noteMeasured(t.db.pool, NOW_MS + 5 * MINUTE_MS, NOW_MS - HOUR_MS, { live: null, sandbox: null });
    expect(await noticed(NOW_MS + 5 * MINUTE_MS)).toEqual([["stream", 90, 0]]);
  });

  test("a hole between samples is an incident: the service did not run", async () => {
    await sample({ endsBeforeMs: 0, minutes: 10 });
    await sample({ endsBeforeMs: HOUR_MS, minutes: 10 });
    expect(await noticed()).toEqual([["service", 60, 10]]);
  });

  test("at most INCIDENTS_MAX_COUNT incidents are listed, the newest", async () => {
    for (let hour = 0; hour <= INCIDENTS_MAX_COUNT; hour += 1) await sample({ endsBeforeMs: hour * HOUR_MS, minutes: 2 });
    const incidents = await noticed();
    expect(incidents).toHaveLength(INCIDENTS_MAX_COUNT);
    expect(incidents[0]?.[2]).toBe(2);
  });
});

describe("notes of operators", () => {
  const NOTE = {
    title: "Late prices",
    text: "",
    impact: "degraded",
    starts_at: new Date(NOW_MS).toISOString(),
    ends_at: null,
  } as const;
  const changes: object[] = [];
  const admin = (): NotesAdmin => ({ ...t, record: async (_, change) => void changes.push(change) });

  test("a note is added, edited and deleted, each audited, and the page shows it", async () => {
    const { id } = await addNote(admin(), NOTE);
    expect((await report()).notes).toMatchObject([{ id, ...NOTE }]);
    const ends_at = new Date(NOW_MS + HOUR_MS).toISOString();
    await editNote(admin(), id, { ...NOTE, text: "Over soon.", ends_at });
    expect(await listNotes(t.db)).toMatchObject([{ id, text: "Over soon.", ends_at }]);
    await deleteNote(admin(), id);
    expect(await listNotes(t.db)).toEqual([]);
    expect(changes).toMatchObject([
      { action: "incident.add" },
      { action: "incident.edit", before: { ends_at: null }, after: { ends_at } },
      { action: "incident.delete", target: id },
    ]);
  });

  test("an incident that the service noticed becomes the operator's with the first edit, and cannot be deleted", async () => {
    await sample({ endsBeforeMs: 0, minutes: 10, fresh: 0 });
    await noticed();
    const [open] = await listNotes(t.db);
    const { id, key } = open ?? { id: "", key: "" };
    const refused: unknown = await deleteNote(admin(), id).catch((error: unknown) => error);
    expect(isFault(refused) && refused.id).toBe("invalid_parameter");
    await editNote(admin(), id, { ...NOTE, text: "We call the provider." });
    await noticed(NOW_MS + 10 * MINUTE_MS);
    expect(await listNotes(t.db)).toMatchObject([
      { id, key, part: "live", automatic: false, text: "We call the provider.", starts_at: NOTE.starts_at, ends_at: null },
    ]);
  });

  test("a note about a part is one incident with what is measured of it until it ends, whichever came first", async () => {
    const about = {
      ...NOTE,
      title: "Prices are late",
      starts_at: new Date(NOW_MS - 30 * MINUTE_MS).toISOString(),
      part: "live",
    } as const;
    t.clock.set(NOW_MS - 30 * MINUTE_MS);
    const { id } = await addNote(admin(), about);
    await sample({ endsBeforeMs: 10 * MINUTE_MS, minutes: 10, fresh: 0 });
    await sample({ endsBeforeMs: 2 * MINUTE_MS, minutes: 8 });
    await noticed();
    expect(await listNotes(t.db)).toMatchObject([{ id, part: "live", title: "Prices are late", ends_at: null }]);
    // Also what fails again before the operator ends it.
    await sample({ endsBeforeMs: -10 * MINUTE_MS, minutes: 12, fresh: 0 });
    await noticed(NOW_MS + 10 * MINUTE_MS);
    await editNote(admin(), id, { ...about, ends_at: new Date(NOW_MS + 10 * MINUTE_MS).toISOString() });
    await noticed(NOW_MS + 10 * MINUTE_MS);
    expect((await listNotes(t.db)).map((note) => note.id)).toEqual([id]);
  });

  test("a note about a part changes the incident of that part that goes on", async () => {
    await sample({ endsBeforeMs: 0, minutes: 10, fresh: 0 });
    await noticed();
    const [open] = await listNotes(t.db);
    changes.length = 0;
    await addNote(admin(), { ...NOTE, text: "We call the provider.", part: "live" });
    expect(await listNotes(t.db)).toMatchObject([
      { id: open?.id, key: open?.key, automatic: false, text: "We call the provider." },
    ]);
    expect(changes).toMatchObject([{ action: "incident.edit" }]);
  });

  test("notes are kept up to INCIDENT_NOTES_MAX_COUNT; a further one is refused", async () => {
    await t.db.prisma.incidentNote.createMany({
      data: Array.from({ length: INCIDENT_NOTES_MAX_COUNT }, () => {
        return { title: "x", text: "", impact: "none", startsAt: new Date(NOW_MS), updatedAt: new Date(NOW_MS) };
      }),
    });
    const refused: unknown = await addNote(admin(), NOTE).catch((error: unknown) => error);
    expect(isFault(refused) && refused.id).toBe("invalid_parameter");
    expect(await listNotes(t.db)).toHaveLength(INCIDENTS_MAX_COUNT);
  });
});
