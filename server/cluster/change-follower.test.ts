import { describe, expect, onTestFinished, test } from "vitest";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control";
import { collectingLog } from "#lib/testing/collecting-log";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { watchedClock } from "#lib/testing/watched-clock";
import type { RunningMarket } from "#server/market/market";
import type { ReloadableCatalogue } from "#server/store/market/catalogue";
import { createTestMarket } from "#server/testing/market";
import { type ChangeTargets, createChangeFollower } from "./change-follower";

const AGAIN_MS = 1_000;

/** A follower over parts that record their calls, and fail on demand. */
function createScene() {
  const clock = watchedClock();
  const asked: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const failing = new Set<string>();
  const gates = new Map<string, Promise<void>>();

  async function ask(what: string): Promise<void> {
    asked.push(what);
    await gates.get(what);
    if (failing.has(what)) throw new Error(`${what} cannot be read`);
  }
  const each = <Part>(make: (venue: Venue) => Part) =>
    Object.fromEntries(VENUES.map((venue) => [venue, make(venue)])) as Record<Venue, Part>;
  const parts: ChangeTargets = {
    catalogues: each((venue): ReloadableCatalogue => ({ ...createSandboxCatalogue(), reload: () => ask(`listings ${venue}`) })),
  };
  const withMarkets = () => {
    parts.markets = each((venue) => ({
      ...createTestMarket(venue, createSandboxCatalogue()),
      historyChanged: (ticker?: string) => ask(`history ${venue} ${ticker ?? "all"}`),
      ...(venue === "live" && { pinChanged: () => ask("pin") }),
    })) as unknown as Record<Venue, RunningMarket>;
  };
  const follower = createChangeFollower(parts, clock, collectingLog(logged, "info"));
  onTestFinished(() => follower.stop());
  return {
    clock,
    follower,
    failing,
    asked,
    withMarkets,
    /** The calls since the last `take`. */
    take: () => asked.splice(0),
    /** Blocks calls of this name until the returned function is called. */
    hold(what: string): () => void {
      let release = (): void => undefined;
      gates.set(what, new Promise((resolve) => (release = resolve)));
      const open = () => {
        gates.delete(what);
        release();
      };
      onTestFinished(open);
      return open;
    },
    messages: () => logged.map(({ msg }) => msg),
  };
}

const LISTINGS: ControlMessage = { kind: "listings", venue: "live" };
const ALL_LISTINGS = VENUES.map((venue) => `listings ${venue}`);
const EVERYTHING = [...ALL_LISTINGS, "pin", ...VENUES.map((venue) => `history ${venue} all`)];

describe("changes made by other processes", () => {
  test("a change reloads only the part it concerns", async () => {
    const { follower, take, withMarkets } = createScene();
    withMarkets();
    await follower.follow(LISTINGS);
    expect(take()).toEqual(["listings live"]);
    await follower.follow({ kind: "feed" });
    expect(take()).toEqual(["pin"]);
    await follower.follow({ kind: "calendars" });
    expect(take()).toEqual(ALL_LISTINGS);
    await follower.follow({ kind: "klines", venue: "sandbox", ticker: "EURUSD" });
    expect(take()).toEqual(["history sandbox EURUSD"]);
    await follower.follow({ kind: "everything" });
    expect(take()).toEqual(EVERYTHING);
    for (const kind of ["keys", "account", "sessions"] as const) await follower.follow({ kind });
    expect(take()).toEqual([]);
  });

  test("a change that cannot be loaded reloads everything each second until it succeeds", async () => {
    const { follower, clock, failing, take, messages, withMarkets } = createScene();
    withMarkets();
    failing.add("listings live");
    await follower.follow(LISTINGS);
    expect(take()).toEqual(["listings live"]);
    for (let times = 0; times < 3; times += 1) {
      await clock.advance(AGAIN_MS - 1);
      expect(take()).toEqual([]);
      await clock.advance(1);
      expect(take()).toEqual(ALL_LISTINGS);
    }
    failing.clear();
    await clock.advance(AGAIN_MS);
    expect(take()).toEqual(EVERYTHING);
    expect(messages()).toEqual(["cannot load a change; reloading everything until it succeeds", "missed changes are loaded"]);
    await clock.advance(10 * AGAIN_MS);
    expect([take(), clock.waits]).toEqual([[], []]);
  });

  test("many changes that cannot be loaded cause one reload", async () => {
    const { follower, clock, failing, take } = createScene();
    for (const name of ALL_LISTINGS) failing.add(name);
    for (let times = 0; times < 50; times += 1) await follower.follow(LISTINGS);
    take();
    expect(clock.waits).toEqual([AGAIN_MS]);
    failing.clear();
    await clock.advance(AGAIN_MS);
    expect(take()).toEqual(ALL_LISTINGS);
    // The next failure starts a new series of retries.
    failing.add("listings live");
    await follower.follow(LISTINGS);
    failing.clear();
    take();
    await clock.advance(AGAIN_MS);
    expect(take()).toEqual(ALL_LISTINGS);
  });

  test("a change that fails during a reload causes another one, because that reload started before it", async () => {
    const { follower, clock, failing, take, hold, withMarkets } = createScene();
    withMarkets();
    failing.add("listings live");
    await follower.follow(LISTINGS);
    failing.clear();
    take();
    const goOn = hold("history sandbox all");
    await clock.advance(AGAIN_MS);
    expect(take()).toEqual(EVERYTHING);
    failing.add("listings live");
    await follower.follow(LISTINGS);
    failing.clear();
    take();
    goOn();
    await clock.advance(AGAIN_MS);
    expect(take()).toContain("listings live");
  });

  test("a change reaches parts that started after the follower was made", async () => {
    const { follower, take, withMarkets } = createScene();
    await follower.follow({ kind: "klines", venue: "live" });
    expect(take()).toEqual([]);
    withMarkets();
    await follower.follow({ kind: "klines", venue: "live" });
    expect(take()).toEqual(["history live all"]);
  });

  test("a stopped follower loads no more changes, and stopping does not wait for the next retry", async () => {
    const { follower, clock, failing, take } = createScene();
    failing.add("listings live");
    await follower.follow(LISTINGS);
    take();
    await follower.stop();
    await clock.advance(10 * AGAIN_MS);
    expect([take(), clock.waits]).toEqual([[], []]);
  });
});
