import fc from "fast-check";
import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TICK_REJECTIONS, type TickRejection } from "#lib/contract/ingest";
import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import type { Outcome } from "#lib/market/ports";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { SECOND_MS } from "#lib/units";
import { createIntake } from "./intake";
import { createRefusals } from "./interruptions";
import { createJudge } from "./judge";

const START_MS = Date.UTC(2026, 0, 7, 12);
const tick = (bid: number): Tick => ({ ticker: "EURUSD", time_msc: START_MS, bid, ask: bid + 1 });
const REFUSED = { id: "service_unavailable" };

interface SceneOptions {
  /** What an engine makes of a tick by its bid. */
  readonly judge?: (bid: number) => Outcome;
  /** The bids for which pushes are in force; absent where there is no other provider. */
  readonly inForce?: (bid: number) => boolean;
}

/** A way in, of which a test opens and closes each part, and reads in which order they were asked. */
function createScene({ judge = () => null, inForce }: SceneOptions = {}) {
  const clock = manualClock(START_MS);
  const catalogue = createSandboxCatalogue();
  const done: unknown[] = [];
  const counted: Outcome[] = [];
  const is = { full: false, behind: false, closed: false, lost: false };
  const waiting: (() => void)[] = [];
  const lacking: unknown[] = [];
  const fail = (detail: string) => {
    throw new Fault("service_unavailable", { detail });
  };
  const judging = createJudge({
    engine: {
      judge: ({ bid }) => judge(bid),
      ingest({ bid }, events = []) {
        events.push({ bid } as never);
        return events;
      },
    },
    publish: (events) => done.push(["published", events.length]),
    nowMs: clock.now,
    wallMs: clock.now,
    decided: ({ bid }, outcome) => done.push([bid, outcome]),
    count: (outcomes) => counted.push(...outcomes),
    filter: undefined,
    catalogue,
    view: { quote: () => undefined, recentKlines: () => [] },
  });
  const choice = inForce && { pushed: ({ bid }: Tick) => inForce(bid) };
  const intake = createIntake({
    venue: "live",
    judge: judging.judge,
    recorder: {
      hasRoom: () => !is.behind,
      room: () => (is.behind ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
      written: async () => undefined,
    },
    keep() {
      if (is.closed) fail("closed");
      done.push("keeps");
      return async (stored) => {
        if (is.lost) fail("lost");
        done.push(["kept", await stored()]);
      };
    },
    requireRoom: () => void (is.full && fail("full")),
    ...(choice && { feed: { choice: choice as never } }),
    refusals: createRefusals(catalogue, (...lack) => lacking.push(lack)),
    clock,
    metrics: { ticks: (_venue, outcomes) => counted.push(...outcomes) },
    stopping: new AbortController().signal,
  });
  function makeRoom(): void {
    is.behind = false;
    for (const resolve of waiting.splice(0)) resolve();
  }
  return { ...intake, clock, done, counted, is, lacking, makeRoom };
}

/** What a line may be read as instead of a tick. */
const reasons = fc.constantFrom<TickRejection>("line_too_long", "malformed_line", "bad_price", "unknown_ticker");

test("each item of a push has its own outcome in its own place, also beside other providers", async () => {
  const items = fc.array(fc.oneof({ weight: 3, arbitrary: fc.nat(1_000) }, { weight: 1, arbitrary: reasons }), {
    maxLength: 600,
  });
  const judge = (bid: number): Outcome => TICK_REJECTIONS[bid % (4 * TICK_REJECTIONS.length)] ?? null;
  const everywhere = fc.constantFrom(undefined, (bid: number) => bid % 5 !== 0);
  await fc.assert(
    fc.asyncProperty(items, everywhere, async (given, inForce) => {
      const { push, done, counted } = createScene({ judge, ...(inForce && { inForce }) });
      const read = given.map((item) => (typeof item === "string" ? item : tick(item)));
      const isTaken = (item: number | TickRejection) => typeof item !== "string" && (inForce?.(item) ?? true);
      const outcomes = given.map((item) => (typeof item === "string" ? item : isTaken(item) ? judge(item) : "standby"));
      expect(await push(read)).toEqual(outcomes);
      const decided = given.flatMap((item) => (isTaken(item) ? [[item, judge(Number(item))]] : []));
      expect(done.filter((entry) => Array.isArray(entry) && typeof entry[0] === "number")).toEqual(decided);
      const published = done.flatMap((entry) => (Array.isArray(entry) && entry[0] === "published" ? Number(entry[1]) : []));
      const accepted = decided.filter(([, outcome]) => outcome === null).length;
      expect(published.reduce((sum, count) => sum + count, 0)).toBe(accepted);
      expect(Math.max(0, ...published)).toBeLessThanOrEqual(256);
      const ofTicks = outcomes.filter((_, at) => typeof given[at] !== "string");
      expect([...counted].sort()).toEqual([...ofTicks].sort());
    }),
    { numRuns: 200 },
  );
});

test("ticks are decided between the question whether they can be kept and the answer that they are", async () => {
  const { push, done } = createScene();
  expect(await push([tick(1), "malformed_line", tick(2)])).toEqual([null, "malformed_line", null]);
  expect(done).toEqual(["keeps", [1, null], [2, null], ["published", 2], ["kept", true]]);
});

test.each(["full", "closed"] as const)("while the way in is %s, a push is refused and nothing of it is decided", async (part) => {
  const { push, done, is } = createScene();
  is[part] = true;
  await expect(push([tick(1)])).rejects.toMatchObject({ ...REFUSED, data: { detail: part } });
  expect(done).toEqual([]);
});

test("a push waits five seconds for room in the recorder, then it is refused", async () => {
  const { push, done, is, clock, makeRoom } = createScene();
  is.behind = true;
  const late = push([tick(1)]);
  const refused = expect(late).rejects.toMatchObject({ ...REFUSED, data: { retry_after: 5 } });
  await clock.advance(5 * SECOND_MS);
  await refused;
  expect(done).toEqual([]);
  const soon = push([tick(2)]);
  await clock.advance(SECOND_MS);
  makeRoom();
  expect(await soon).toEqual([null]);
});

test("a feed waits for room as long as it takes, and for nothing else", async () => {
  const { feed, done, is, clock, makeRoom } = createScene();
  Object.assign(is, { behind: true, full: true, closed: true, lost: true });
  const fed = feed([tick(1)]);
  await clock.advance(60 * SECOND_MS);
  expect(done).toEqual([]);
  makeRoom();
  await fed;
  expect(done).toEqual([
    [1, null],
    ["published", 1],
  ]);
});

test("a push that may be lost is refused though it was decided, and lacks once it was refused for long", async () => {
  const { push, done, is, clock, lacking } = createScene();
  is.lost = true;
  await expect(push([tick(1)])).rejects.toMatchObject({ ...REFUSED, data: { detail: "lost" } });
  expect(done).toEqual(["keeps", [1, null], ["published", 1]]);
  is.lost = false;
  await clock.advance(10 * SECOND_MS);
  await push([tick(1)]);
  expect(lacking).toEqual([[["EURUSD"], START_MS, START_MS + 10 * SECOND_MS, "refused"]]);
});
