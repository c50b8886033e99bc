import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOUR_MS, SECOND_MS } from "#lib/units";
import { type Change, createPrecedence } from "./precedence";

const START_MS = Date.UTC(2026, 0, 7, 12);
const EUR = new Set(["EURUSD"]);
type Name = "first" | "second" | "push";

/** Two providers and, where asked for, pushes before them; each second that passes is looked at. */
function createScene({ pushes = false, openSince = () => 0 as number | null } = {}) {
  const changes: Change[] = [];
  const times: number[] = [];
  let nowMs = START_MS;
  const connecting = ["first", "second"].map((name) => ({ name, connects: true }));
  const members = [...(pushes ? [{ name: "push", connects: false }] : []), ...connecting];
  const precedence = createPrecedence({
    members,
    nowMs,
    openSince,
    changed(change) {
      changes.push(change);
      times.push(nowMs);
    },
  });
  return {
    precedence,
    changes,
    times,
    now: () => nowMs,
    live: (...names: Name[]) => {
      for (const name of names) precedence.live(name, EUR, nowMs);
    },
    lost: (name: Name) => precedence.lost(name, nowMs),
    tick: (name: Name) => precedence.tick(name, "EURUSD", nowMs),
    speaker: () => precedence.inForce("EURUSD"),
    /** Lets time pass; these providers tick each `everyS` seconds. */
    pass(seconds: number, ticking: readonly Name[] = [], everyS = 1) {
      for (let second = 1; second <= seconds; second++) {
        nowMs += SECOND_MS;
        if (second % everyS === 0) for (const name of ticking) precedence.tick(name, "EURUSD", nowMs);
        precedence.look(["EURUSD"], nowMs);
      }
    },
  };
}

const BOTH = ["first", "second"] as const;

/** A scene in which the first provider speaks, and the second is well. */
function started(options?: Parameters<typeof createScene>[0]) {
  const scene = createScene(options);
  scene.live(...BOTH);
  scene.pass(60, BOTH);
  expect(scene.speaker()).toBe("first");
  return scene;
}

describe("the first choice", () => {
  test("the first provider that offers a ticker speaks, and the other's ticks are not taken", () => {
    const scene = createScene();
    scene.live("second");
    expect(scene.tick("second")).toBe(false);
    scene.live("first");
    expect([scene.tick("first"), scene.tick("second")]).toEqual([true, false]);
    expect(scene.changes).toMatchObject([{ from: undefined, to: "first", reason: "first" }]);
  });

  test("a provider that cannot be reached at the start is waited for ten seconds", () => {
    const scene = createScene();
    scene.live("second");
    scene.pass(9, ["second"]);
    expect(scene.speaker()).toBeUndefined();
    scene.pass(1, ["second"]);
    expect(scene.speaker()).toBe("second");
  });

  test("a ticker that the first provider does not offer is the second's at once", () => {
    const scene = createScene();
    scene.precedence.live("first", new Set(["XAUUSD"]), scene.now());
    scene.live("second");
    expect(scene.tick("second")).toBe(true);
    expect(scene.precedence.offers("first", "EURUSD")).toBe(false);
  });

  test("the first push of a ticker speaks at once within the first ten seconds, later after five minutes", () => {
    const [soon, late] = [createScene({ pushes: true }), createScene({ pushes: true })];
    for (const { live } of [soon, late]) live("first");
    expect([soon.tick("first"), soon.tick("push"), soon.tick("first")]).toEqual([false, true, false]);
    late.pass(11, ["first"]);
    expect(late.speaker()).toBe("first");
    late.pass(300, ["first", "push"]);
    expect(late.speaker()).toBe("first");
    late.pass(1, ["first", "push"]);
    expect(late.speaker()).toBe("push");
  });
});

describe("a provider that is away", () => {
  test("the next one speaks after ten seconds without a connection", () => {
    const scene = started();
    const lostMs = scene.now();
    scene.lost("first");
    scene.pass(9, ["second"]);
    expect(scene.speaker()).toBe("first");
    scene.pass(1, ["second"]);
    expect(scene.changes.at(-1)).toMatchObject({ from: "first", to: "second", reason: "lost", wellMs: lostMs });
  });

  test("of a rare ticker, the first tick of the other after ten seconds is taken", () => {
    const scene = createScene();
    scene.live(...BOTH);
    scene.pass(600, BOTH, 60);
    scene.lost("first");
    scene.pass(120, ["second"], 60);
    expect(scene.speaker()).toBe("second");
    expect(scene.times.at(-1)).toBe(START_MS + 610 * SECOND_MS);
  });

  test("a connection that comes back within ten seconds changes nothing", () => {
    const scene = started();
    for (let turn = 0; turn < 50; turn++) {
      scene.lost("first");
      scene.pass(9, ["second"]);
      scene.live("first");
      scene.pass(5, BOTH);
    }
    expect(scene.changes).toHaveLength(1);
  });

  test("one that is silent for 30 s while the other ticks is quiet", () => {
    const scene = started();
    scene.pass(29, ["second"]);
    expect(scene.speaker()).toBe("first");
    scene.pass(1, ["second"]);
    expect(scene.changes.at(-1)).toMatchObject({ to: "second", reason: "quiet", wellMs: START_MS + 60_000 });
  });

  test("a ticker whose usual gap is long is quiet after five of them", () => {
    const scene = createScene();
    scene.live(...BOTH);
    scene.pass(1_200, BOTH, 20);
    scene.pass(99, ["second"], 20);
    expect(scene.speaker()).toBe("first");
    scene.pass(21, ["second"], 20);
    expect(scene.speaker()).toBe("second");
  });

  test("silence changes nothing while the market is closed, nor right after it opens", () => {
    let openMs: number | null = 0;
    const scene = started({ openSince: () => openMs });
    openMs = null;
    scene.pass(7_200, ["second"]);
    expect(scene.speaker()).toBe("first");
    openMs = scene.now();
    scene.pass(25, ["second"]);
    scene.tick("first");
    scene.pass(25, BOTH);
    expect(scene.changes).toHaveLength(1);
  });

  test("while the market is closed, a lost connection still counts", () => {
    const scene = started({ openSince: () => null });
    scene.lost("first");
    scene.pass(10);
    expect(scene.speaker()).toBe("second");
  });
});

describe("the way back", () => {
  function away() {
    const scene = started();
    scene.lost("first");
    scene.pass(10, ["second"]);
    scene.live("first");
    return scene;
  }

  test("the earlier provider speaks again once it was well for five minutes", () => {
    const scene = away();
    scene.pass(300, BOTH);
    expect(scene.speaker()).toBe("second");
    scene.pass(1, BOTH);
    expect(scene.changes.at(-1)).toMatchObject({ from: "second", to: "first", reason: "back" });
  });

  test("a break of a moment begins the five minutes again", () => {
    const scene = away();
    scene.pass(299, BOTH);
    scene.lost("first");
    scene.live("first");
    scene.pass(299, BOTH);
    expect(scene.speaker()).toBe("second");
    scene.pass(2, BOTH);
    expect(scene.speaker()).toBe("first");
  });

  test("a connection without ticks is not well", () => {
    const scene = away();
    scene.pass(3_600, ["second"]);
    expect(scene.speaker()).toBe("second");
  });

  test("a ticker returns once an hour at most, and yet the next one speaks each time that the present one is away", () => {
    const scene = started();
    const out = () => {
      scene.lost("first");
      scene.pass(10, ["second"]);
      scene.live("first");
    };
    out();
    scene.pass(301, BOTH);
    const returnedMs = scene.now();
    scene.pass(60, BOTH);
    out();
    scene.pass(3_529, BOTH);
    expect(scene.speaker()).toBe("second");
    scene.pass(1, BOTH);
    expect([scene.speaker(), scene.now() - returnedMs]).toEqual(["first", HOUR_MS]);
    for (let turn = 0; turn < 3; turn++) {
      out();
      expect(scene.speaker()).toBe("second");
      scene.lost("second");
      scene.pass(10, ["first"]);
      expect(scene.speaker()).toBe("first");
      scene.live("second");
    }
  });
});

describe("a pinned provider", () => {
  test("speaks at once and in every state, until the pin is released", () => {
    const scene = started();
    scene.precedence.pin("second", scene.now());
    expect(scene.changes.at(-1)).toMatchObject({ to: "second", reason: "pinned" });
    scene.lost("second");
    scene.pass(600, ["first"]);
    expect([scene.speaker(), scene.precedence.pinned()]).toEqual(["second", "second"]);
    scene.precedence.pin(null, scene.now());
    expect([scene.speaker(), scene.precedence.pinned()]).toEqual(["first", null]);
  });

  test("gives way at once to an earlier one that is well, also when the ticker returned a moment ago", () => {
    const scene = started();
    scene.pass(300, BOTH);
    for (let turn = 0; turn < 3; turn++) {
      scene.precedence.pin("second", scene.now());
      expect(scene.speaker()).toBe("second");
      scene.precedence.pin(null, scene.now());
      expect(scene.speaker()).toBe("first");
    }
  });

  test("leaves the tickers that it does not offer to the others", () => {
    const scene = createScene();
    scene.live("first");
    scene.precedence.live("second", new Set(["XAUUSD"]), scene.now());
    scene.precedence.pin("second", scene.now());
    scene.pass(1, ["first"]);
    expect(scene.speaker()).toBe("first");
  });
});

type Step = readonly ["live" | "lost" | "ticks" | "opens" | "closes", Name, seconds: number];

const steps = fc.array(
  fc.tuple(
    fc.constantFrom("live", "lost", "ticks", "opens", "closes"),
    fc.constantFrom<Name>("first", "second", "push"),
    fc.integer({ min: 0, max: 400 }),
  ),
  { maxLength: 60 },
);

/** Providers that come, go and tick as the steps say. */
function play(story: readonly Step[]) {
  let openMs: number | null = 0;
  const scene = createScene({ pushes: true, openSince: () => openMs });
  const ticking = new Set<Name>();
  const spoke: number[] = [];
  for (const [what, name, seconds] of story) {
    if (what === "live") scene.live(name);
    else if (what === "lost") scene.lost(name);
    else if (what === "opens") openMs ??= scene.now();
    else if (what === "closes") openMs = null;
    else if (!ticking.delete(name)) ticking.add(name);
    scene.pass(seconds, [...ticking]);
    spoke.push((["push", "first", "second"] as const).filter((one) => scene.tick(one)).length);
  }
  return { ...scene, spoke };
}

/** A provider of rare ticks that comes back when it is about to be quiet. */
const BACK_NEAR_ITS_END: Step[] = [
  ["ticks", "first", 0],
  ...[8, 330, 37, 217, 357, 302].map((seconds): Step => ["live", "first", seconds]),
];

test("whatever happens: at most one speaks, it has ten seconds to tick, and a ticker returns once an hour at most", () => {
  fc.assert(
    fc.property(steps, (story) => {
      const { changes, times, spoke } = play(story);
      expect(Math.max(0, ...spoke)).toBeLessThanOrEqual(1);
      const returns = times.filter((_, at) => changes[at]?.reason === "back");
      for (const [at, atMs] of returns.slice(1).entries()) expect(atMs - (returns[at] ?? 0)).toBeGreaterThanOrEqual(HOUR_MS);
      for (const [at, { reason }] of changes.entries()) {
        const sinceMs = (times[at] ?? 0) - (times[at - 1] ?? Number.NEGATIVE_INFINITY);
        if (reason === "quiet" || (reason === "lost" && at > 1)) expect(sinceMs).toBeGreaterThanOrEqual(10_000);
      }
    }),
    { numRuns: 150, examples: [[BACK_NEAR_ITS_END]] },
  );
});

test("whatever was before: when all fall silent in an open market, nothing changes any more", () => {
  fc.assert(
    fc.property(steps, (story) => {
      const scene = play([...story, ["opens", "first", 0]]);
      // The longest pause after which a ticker is quiet.
      scene.pass(3_100);
      const before = scene.changes.length;
      scene.pass(4_000);
      expect(scene.changes).toHaveLength(before);
    }),
    { numRuns: 30 },
  );
});
