import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOURS_DEFAULT_DAYS, HOURS_MAX_DAYS, HOURS_SESSIONS_MAX_COUNT } from "#lib/contract/limits";
import type { CalendarDefinition } from "#lib/domain/calendar";
import { compileCalendar } from "#lib/domain/calendar";
import { forex } from "#lib/domain/calendars/forex";
import { metals } from "#lib/domain/calendars/metals";
import { DAY_S, SECOND_MS } from "#lib/units";
import { failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

let t: TestRuntime;
let definition: CalendarDefinition | undefined;

beforeAll(async () => {
  t = await testRuntime();
  const { catalogue } = t.markets.live as { catalogue: { calendar: unknown } };
  catalogue.calendar = () => (definition === undefined ? undefined : compileCalendar(definition, []));
});
afterAll(() => t.close());

const seconds = (iso: string) => Date.parse(iso) / SECOND_MS;
const iso = (at: number) => new Date(at * SECOND_MS).toISOString().slice(0, 16);
const ask = (query: string) => t.ask(`/api/v1/market/hours?ticker=EURUSD${query}`);

/** The sessions of a range, as "open close" in UTC. */
async function sessionsOf(of: CalendarDefinition, from: string, to: string): Promise<string[]> {
  definition = of;
  const { sessions } = (await ask(`&from=${from}&to=${to}`)).body.data as { sessions: { from: number; to: number }[] };
  return sessions.map((session) => `${iso(session.from)} ${iso(session.to)}`);
}

describe("trading hours", () => {
  test("a week is one session of forex and five of metals, and follows the clock change", async () => {
    expect(await sessionsOf(forex, "2026-03-01T00:00:00Z", "2026-03-15T00:00:00Z")).toEqual([
      "2026-03-01T22:00 2026-03-06T22:00",
      "2026-03-08T21:00 2026-03-13T21:00",
    ]);
    expect(await sessionsOf(metals, "2026-06-07T00:00:00Z", "2026-06-14T00:00:00Z")).toHaveLength(5);
  });

  test("a holiday and an early close shorten the sessions, and the range cuts those at its ends", async () => {
    expect(await sessionsOf(forex, "2025-12-24T00:00:00Z", "2025-12-26T00:00:00Z")).toEqual([
      "2025-12-24T00:00 2025-12-25T08:00",
      "2025-12-25T22:00 2025-12-26T00:00",
    ]);
    expect(await sessionsOf(metals, "2026-07-03T00:00:00Z", "2026-07-05T00:00:00Z")).toEqual([
      "2026-07-03T00:00 2026-07-03T17:00",
    ]);
  });

  test(`without a range the answer covers the next ${HOURS_DEFAULT_DAYS} days`, async () => {
    definition = { kind: "always" };
    const from = TEST_START_MS / SECOND_MS;
    const to = from + HOURS_DEFAULT_DAYS * DAY_S;
    expect((await ask("")).body.data).toEqual({ ticker: "EURUSD", from, to, sessions: [{ from, to }] });
  });

  test("the answer ends where the calendar does, and knows nothing without one", async () => {
    definition = forex;
    const from = seconds("2028-12-20T00:00:00Z");
    const { to, sessions } = (await ask(`&from=${from}&to=${from + 40 * DAY_S}`)).body.data;
    expect(iso(to).slice(0, 10)).toBe("2029-01-01");
    expect(sessions.length).toBeGreaterThan(0);
    definition = undefined;
    expect((await ask(`&from=${from}`)).body.data).toEqual({ ticker: "EURUSD", from, to: from, sessions: [] });
  });

  test(`${HOURS_SESSIONS_MAX_COUNT} sessions are the most, and the next answer continues without a gap`, async () => {
    definition = { kind: "cycle", anchorS: 0, openS: 60, closedS: 60 };
    const from = TEST_START_MS / SECOND_MS;
    const end = from + 3 * DAY_S;
    const found: { from: number; to: number }[] = [];
    for (let at = from; at < end; ) {
      const { sessions, to } = (await ask(`&from=${at}&to=${end}`)).body.data;
      expect(sessions.length).toBeLessThanOrEqual(HOURS_SESSIONS_MAX_COUNT);
      expect(to).toBeGreaterThan(at);
      found.push(...sessions);
      at = to;
    }
    expect(found).toEqual(
      Array.from({ length: (end - from) / 120 }, (_, index) => ({ from: from + 120 * index, to: from + 120 * index + 60 })),
    );
  });

  test.each([
    ["an end before its start", "&from=200&to=100"],
    ["an end before now", `&to=${TEST_START_MS / SECOND_MS}`],
    ["more days than allowed", `&from=0&to=${HOURS_MAX_DAYS * DAY_S + 1}`],
  ])("a range with %s is refused", async (_, query) => {
    expect(await ask(query)).toMatchObject({ status: 400, ...failed("invalid_range", { parameter: "from" }) });
  });
});
