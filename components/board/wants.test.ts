import { describe, expect, test } from "vitest";
import { PLAN_DEFAULTS, TICKERS_PER_REQUEST_MAX_COUNT } from "#lib/contract/limits";
import { createWants, partsOf, type Topic, topicOf } from "./wants";

const MAX = PLAN_DEFAULTS.demo.subscriptionsPerConnection;
const snapshots = (name: string, count: number) => Array.from({ length: count }, (_, index): Topic => `snapshot ${name}${index}`);

describe("what the pages of a browser want", () => {
  test("a topic and its parts are the same thing", () => {
    for (const topic of ["snapshot EURUSD", "kline XAUUSD M5"] as const) expect(topicOf(partsOf(topic))).toBe(topic);
  });

  test("each topic is followed once, however many pages want it", () => {
    const wants = createWants(MAX);
    wants.set("a", ["snapshot EURUSD", "kline EURUSD M1"]);
    wants.set("b", ["snapshot GBPUSD", "snapshot EURUSD"]);
    expect(wants.union(MAX)).toEqual({ followed: ["kline EURUSD M1", "snapshot EURUSD", "snapshot GBPUSD"], polled: [] });
  });

  test("past the maximum, charts come first, then the first rows of every page; the others are polled", () => {
    const wants = createWants(MAX);
    wants.set("a", snapshots("A", MAX));
    wants.set("b", [...snapshots("B", 2), "kline B0 H1"]);
    const { followed, polled } = wants.union(MAX);
    expect(followed).toHaveLength(MAX);
    expect(followed.slice(0, 4)).toEqual(["kline B0 H1", "snapshot A0", "snapshot B0", "snapshot A1"]);
    expect(polled).toEqual(["A17", "A18", "A19"]);
  });

  test("pages and topics are bounded, and what is polled fits in one call", () => {
    const wants = createWants(MAX);
    for (let page = 0; page < 1_000; page += 1) wants.set(`page ${page}`, snapshots(`P${page}N`, 100));
    const { followed, polled } = wants.union(MAX);
    expect(followed).toHaveLength(MAX);
    expect(followed.length + polled.length).toBe(TICKERS_PER_REQUEST_MAX_COUNT);
    expect(new Set(followed.map((topic) => topic.split("N")[0])).size).toBe(MAX);
  });

  test("reports what is new, and which page", () => {
    const wants = createWants(MAX);
    expect(wants.set("a", snapshots("A", 1))).toEqual({ fresh: ["snapshot A0"], joined: true });
    expect(wants.set("a", snapshots("A", 2))).toEqual({ fresh: ["snapshot A1"], joined: false });
    expect(wants.set("a", [])).toEqual({ fresh: [], joined: false });
  });

  test("a page that is silent for more than three beats no longer counts, one that repeats its wants does", () => {
    const wants = createWants(MAX);
    wants.set("crashed", ["snapshot EURUSD"]);
    for (let beat = 0; beat < 4; beat += 1) {
      expect(wants.union(MAX).followed).toContain("snapshot EURUSD");
      wants.set("alive", ["snapshot GBPUSD"]);
      wants.beat();
    }
    expect(wants.union(MAX).followed).toEqual(["snapshot GBPUSD"]);
  });
});
