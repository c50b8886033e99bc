import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { OVERRIDES_MAX_COUNT } from "#lib/contract/portal-admin";
import type { ControlListener, ControlMessage } from "#lib/control";
import { HOUR_MS } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { addOverride, type CalendarAdmin, liftOverride, listCalendars, overridesOf, putDefinition } from "./calendar-admin";
import { createCatalogue } from "./catalogue";

/** A Wednesday noon, UTC: forex is open. */
const NOW_MS = Date.UTC(2026, 0, 7, 12);

let db: TestDatabase;
let context: CalendarAdmin;
const clock = manualClock(NOW_MS);
const heard: ControlMessage[] = [];
const recorded: object[] = [];
let control: ControlListener;

beforeAll(async () => {
  db = await testDatabase();
  context = { db, clock, record: async (_, change) => void recorded.push(change) };
  control = await db.control.listen((message) => heard.push(message));
});
afterAll(async () => {
  await control.stop();
  await db.close();
});

const forex = async () => {
  const calendar = (await listCalendars(context)).find(({ name }) => name === "forex");
  if (calendar === undefined) throw new Error("no forex calendar");
  return calendar;
};
const inHours = (hours: number) => new Date(NOW_MS + hours * HOUR_MS).toISOString();
const stateNow = async () => (await createCatalogue(db, "live")).calendar("EURUSD")?.sessionAt(clock.now());

describe("calendar administration", () => {
  test("calendars are listed with their definitions and the number of instruments that use them", async () => {
    expect((await listCalendars(context)).map(({ name }) => name)).toEqual(expect.arrayContaining(["forex", "metals"]));
    expect(await forex()).toMatchObject({ overrides: [], definition: { kind: "weekly" } });
    expect((await forex()).listings).toBeGreaterThan(40);
    const ofSandbox = (await listCalendars(context)).filter(({ sandbox }) => sandbox);
    expect(ofSandbox.map(({ name }) => name)).toEqual(["always", "flip", "late", "never"]);
  });

  test("an override closes a calendar at once in every process, and lifting it opens the calendar again", async () => {
    const before = heard.length;
    const made = await addOverride(context, "forex", { state: "closed", starts_at: null, ends_at: null, note: "halt" });
    expect(made).toMatchObject({ starts_at: new Date(NOW_MS).toISOString(), ends_at: null });
    await expect.poll(() => heard.slice(before)).toContainEqual({ kind: "calendars" });
    expect(await stateNow()).toMatchObject({ state: "closed", reason: "operator_override", source: "operator_override" });
    expect((await forex()).overrides).toEqual([made]);
    await liftOverride(context, made.id);
    expect(await stateNow()).toMatchObject({ state: "open", source: "session_rules" });
    expect((await forex()).overrides).toEqual([]);
  });

  test("an override lifted before its start never takes effect, and lifting it twice changes nothing", async () => {
    const [starts_at, ends_at] = [inHours(1), inHours(2)];
    const made = await addOverride(context, "metals", { state: "open", starts_at, ends_at, note: "" });
    expect(await overridesOf(context, "metals")).toEqual([made]);
    await liftOverride(context, made.id);
    await expect(liftOverride(context, made.id)).rejects.toMatchObject({ id: "not_found" });
  });

  test("a new definition of a calendar takes effect at once", async () => {
    const { definition } = await forex();
    if (definition.kind !== "weekly") throw new Error("forex is weekly");
    const holiday = { ...definition, holidays: [...definition.holidays, "2026-01-07"] };
    expect(await putDefinition(context, "forex", holiday)).toEqual({ before: definition, after: holiday });
    expect(await stateNow()).toMatchObject({ state: "closed", reason: "holiday" });
    expect((await forex()).definition).toEqual(holiday);
    await putDefinition(context, "forex", definition);
  });

  test("of overlapping overrides, the one that starts last applies", async () => {
    const halt = { state: "closed", starts_at: inHours(-2), ends_at: inHours(2), note: "" } as const;
    const made = [await addOverride(context, "forex", { ...halt, state: "open", starts_at: inHours(-1), ends_at: inHours(1) })];
    made.push(await addOverride(context, "forex", halt));
    expect(await stateNow()).toMatchObject({ state: "open", nextClose: NOW_MS + HOUR_MS });
    for (const { id } of made) await liftOverride(context, id);
    expect((await forex()).overrides).toEqual([]);
  });

  test("invalid overrides and definitions are refused with a clear message", async () => {
    const halt = { state: "closed" as const, starts_at: null, ends_at: null, note: "" };
    await expect(addOverride(context, "mars", halt)).rejects.toMatchObject({ id: "not_found" });
    await expect(putDefinition(context, "mars", { kind: "always" })).rejects.toMatchObject({ id: "not_found" });
    for (const hours of [0, -1])
      await expect(addOverride(context, "forex", { ...halt, ends_at: inHours(hours) })).rejects.toMatchObject({
        data: { parameter: "ends_at" },
      });
    await expect(overridesOf(context, "mars")).rejects.toMatchObject({ id: "not_found" });
    await expect(liftOverride(context, "not an id")).rejects.toMatchObject({ id: "not_found" });
    for (let count = 0; count < OVERRIDES_MAX_COUNT; count += 1) await addOverride(context, "metals", halt);
    await expect(addOverride(context, "metals", halt)).rejects.toMatchObject({ data: { parameter: "state" } });
  });
});
