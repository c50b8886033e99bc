import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manualClock, systemClock } from "#lib/clock";
import { type ControlMessage, listen } from "#lib/control";
import { createLog } from "#lib/log";
import { type TestDatabase, testDatabase } from "#lib/testing/database";
import { addOverride, type CalendarContext, liftOverride, listCalendars, previewCalendar, putDefinition } from "./calendar-admin";
import { createCatalogue } from "./catalogue";

/** A Wednesday noon, UTC: forex is open. */
const NOW_MS = Date.UTC(2026, 0, 7, 12);
const HOUR_MS = 3_600_000;

let db: TestDatabase;
let context: CalendarContext;
const clock = manualClock(NOW_MS);
const heard: ControlMessage[] = [];
let control: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  db = await testDatabase();
  context = { db, clock };
  control = await listen({ db, onMessage: (message) => heard.push(message), clock: systemClock, log: createLog("silent") });
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
const stateNow = async () => (await createCatalogue(db, "live")).calendar("EURUSD")?.sessionAt(clock.now());

describe("an operator's calendars", () => {
  test("are listed with their definitions and how many instruments follow them", async () => {
    expect((await listCalendars(context)).map(({ name }) => name)).toEqual(expect.arrayContaining(["forex", "metals"]));
    expect(await forex()).toMatchObject({ overrides: [], definition: { kind: "weekly" } });
    expect((await forex()).listings).toBeGreaterThan(40);
  });

  test("are closed by an override at once, everywhere, and open again when it is lifted", async () => {
    const before = heard.length;
    const made = await addOverride(context, "forex", { state: "closed", startsAt: new Date(NOW_MS), endsAt: null, note: "halt" });
    await expect.poll(() => heard.slice(before)).toContainEqual({ kind: "calendars" });
    expect(await stateNow()).toMatchObject({ state: "closed", reason: "operator_override", source: "operator_override" });
    expect((await forex()).overrides).toEqual([made]);
    await liftOverride(context, made.id);
    expect(await stateNow()).toMatchObject({ state: "open", source: "session_rules" });
    expect((await forex()).overrides).toEqual([]);
  });

  test("forget an override that had not begun when it is lifted, and lifting twice changes nothing", async () => {
    const startsAt = new Date(NOW_MS + HOUR_MS);
    const made = await addOverride(context, "metals", {
      state: "open",
      startsAt,
      endsAt: new Date(NOW_MS + 2 * HOUR_MS),
      note: "",
    });
    await liftOverride(context, made.id);
    await expect(liftOverride(context, made.id)).rejects.toMatchObject({ id: "not_found" });
  });

  test("preview the coming fortnight before anything is stored", async () => {
    const { definition } = await forex();
    const plain = previewCalendar(definition, [], NOW_MS);
    expect(plain.now).toMatchObject({ state: "open" });
    expect(plain.sessions).toHaveLength(3);
    const halted = previewCalendar(definition, [{ state: "closed", fromMs: NOW_MS, untilMs: NOW_MS + HOUR_MS }], NOW_MS);
    expect(halted.now).toMatchObject({ state: "closed", nextOpen: NOW_MS + HOUR_MS });
    expect(halted.sessions?.[0]?.openMs).toBe(NOW_MS + HOUR_MS);
  });

  test("take another definition when it is one, and keep the old one when it is not", async () => {
    const { definition } = await forex();
    if (definition.kind !== "weekly") throw new Error("forex is weekly");
    const holiday = { ...definition, holidays: [...definition.holidays, "2026-01-07"] };
    expect(await putDefinition(context, "forex", holiday)).toEqual({ before: definition, after: holiday });
    expect(await stateNow()).toMatchObject({ state: "closed", reason: "holiday" });
    await expect(putDefinition(context, "forex", { ...definition, zone: "Mars/Olympus" })).rejects.toMatchObject({
      id: "invalid_parameter",
      data: { parameter: "zone" },
    });
    await expect(putDefinition(context, "forex", { ...definition, holiday: [] })).rejects.toMatchObject({
      id: "invalid_parameter",
    });
    expect((await forex()).definition).toEqual(holiday);
    await putDefinition(context, "forex", definition);
  });

  test("refuse what cannot be, in words", async () => {
    const halt = { state: "closed" as const, startsAt: new Date(NOW_MS), endsAt: null, note: "" };
    await expect(addOverride(context, "mars", halt)).rejects.toMatchObject({ id: "not_found" });
    await expect(putDefinition(context, "mars", { kind: "always" })).rejects.toMatchObject({ id: "not_found" });
    await expect(addOverride(context, "forex", { ...halt, endsAt: new Date(NOW_MS - 1) })).rejects.toMatchObject({
      data: { parameter: "endsAt" },
    });
    await expect(addOverride(context, "forex", { ...halt, note: "x".repeat(201) })).rejects.toMatchObject({
      data: { parameter: "note" },
    });
    await expect(liftOverride(context, "not an id")).rejects.toMatchObject({ id: "not_found" });
    for (let count = 0; count < 50; count += 1) await addOverride(context, "metals", halt);
    await expect(addOverride(context, "metals", halt)).rejects.toMatchObject({ data: { parameter: "state" } });
  });
});
