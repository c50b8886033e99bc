import { describe, expect, test } from "vitest";
import type { ServiceStatus, VenueStatus } from "#lib/contract/service-status";
import type { IncidentNote } from "#lib/contract/uptime";
import type { NoAnswer } from "../portal/no-answer";
import { headlineOf, type Known, restState, streamState } from "./headline";

const NOW_MS = Date.UTC(2026, 0, 5, 12);
const HISTORY = { from_ms: 0, bucket_ms: 0, rest: [], stream: [], feeds: { live: [], sandbox: [] } };

function known(change: Partial<ServiceStatus> = {}, trouble?: NoAnswer): Known {
  const checked = { at_ms: NOW_MS, rest: true, stream: true };
  return {
    status: { at_ms: NOW_MS, checked, venues: [], failing: [], incidents: null, history: HISTORY, ...change },
    tookMs: trouble ? null : 5,
    trouble,
  };
}

function note(impact: IncidentNote["impact"], ends_at: string | null = null): IncidentNote {
  return {
    id: "1",
    key: "note-1",
    part: null,
    automatic: false,
    title: "Note",
    text: "",
    impact,
    starts_at: "2026-01-05T11:00:00Z",
    ends_at,
    updated_at: "2026-01-05T11:00:00Z",
  };
}

const STREAM = { by: "stream" } as const;

test.each(["offline", "timeout", "unreachable"] as const)(
  "a page that is cut off (%s) knows nothing of REST and streams",
  (why) => {
    const cut = known({}, why);
    expect([restState(cut), streamState(cut, STREAM)]).toEqual(["unknown", "unknown"]);
    expect(headlineOf(cut, STREAM, []).level).toBe("unknown");
  },
);

test("an error of the service is no lost connection: REST is down", () => {
  const failed = known({}, "failed");
  expect(restState(failed)).toBe("down");
  expect(headlineOf(failed, STREAM, [])).toMatchObject({ level: "down", title: "The service returned an error" });
});

describe("the headline", () => {
  test("is Operational, Degraded or Down, and names what has a problem", () => {
    expect(headlineOf(known(), STREAM, [])).toEqual({
      level: "operational",
      title: "Operational",
      detail: undefined,
      ongoing: [],
    });
    const streams = known({ checked: { at_ms: NOW_MS, rest: true, stream: false }, history: null });
    expect(headlineOf(streams, { by: "page" }, [])).toMatchObject({
      level: "degraded",
      title: "Degraded",
      detail: "Problems with the database and streams.",
    });
    const rest = { ...known({ checked: { at_ms: NOW_MS, rest: false, stream: true } }), tookMs: null };
    expect(headlineOf(rest, STREAM, []).title).toBe("Down");
  });

  test("is as bad as an operator's note says while it applies, and never better than what is measured", () => {
    expect(headlineOf(known(), STREAM, [note("down")]).title).toBe("Down");
    expect(headlineOf(known(), STREAM, [note("degraded")]).title).toBe("Degraded");
    expect(headlineOf(known(), STREAM, [note("down", "2026-01-05T11:30:00Z")]).title).toBe("Operational");
    expect(headlineOf(known({ history: null }), STREAM, [note("none")]).title).toBe("Degraded");
  });

  test("is no worse for an incident that the service noticed itself: what it measures now counts", () => {
    const noticed: IncidentNote = { ...note("down"), automatic: true, part: "live" };
    expect(headlineOf(known(), STREAM, [noticed])).toMatchObject({ title: "Operational", ongoing: [] });
  });

  test("has the incidents that go on from the same facts, and names only what these do not", () => {
    const noticed: IncidentNote = { ...note("degraded"), automatic: true, part: "live" };
    const down = known({ failing: ["feed_live", "store"] });
    expect(headlineOf(down, STREAM, [noticed])).toEqual({
      level: "degraded",
      title: "Degraded",
      detail: "Problems with the database.",
      ongoing: [noticed],
    });
    expect(headlineOf(known({ failing: ["prices_live"] }), STREAM, [noticed]).detail).toBe("Everything else works.");
    // Once the venue has no provider, nothing is expected of its feed: the incident is over before its end is recorded.
    const unbound = { venue: "live", provider: null, last_tick_ms: null, lag_ms: null, groups: [] } as const;
    expect(headlineOf(known({ venues: [unbound] }), STREAM, [noticed])).toMatchObject({ title: "Operational", ongoing: [] });
    // Nor before its provider brought the first tick, unless the provider is known to be away.
    const group = {
      calendar: "forex",
      asset_class: "forex",
      instruments: [{ ticker: "EURUSD", state: "open_data_missing", reason: null }],
    };
    const first = { ...unbound, provider: "push", groups: [group] } as unknown as VenueStatus;
    expect(headlineOf(known({ venues: [first] }), STREAM, [noticed])).toMatchObject({ title: "Operational", ongoing: [] });
    const ticked = { ...first, last_tick_ms: NOW_MS };
    expect(headlineOf(known({ venues: [ticked] }), STREAM, [noticed])).toMatchObject({ title: "Degraded", ongoing: [noticed] });
    // A page that gets no answer shows what went on last.
    expect(headlineOf(known({}, "offline"), STREAM, [noticed]).ongoing).toEqual([noticed]);
  });
});
