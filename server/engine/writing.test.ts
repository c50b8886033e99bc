import { mkdtemp, rm, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Kline } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import { TAKEN } from "#lib/domain/tick-columns";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { startMarket } from "#server/market/market";
import { type Leadership, leadAlone } from "#server/market/turn";
import { createMemoryKlines, type MemoryKlines } from "#server/testing/memory-klines";
import { type Journal, type JournalFolder, takeJournals } from "./journal";
import { beginWriting } from "./writing";

const TICKERS = ["EURUSD", "XAUUSD"];
/** Shortly before the end of a trading week, so that every timeframe up to W1 closes on the way. */
const START_MS = Date.UTC(2026, 0, 9, 21, 50);
const log = createLog("silent");

function catalogue() {
  const { calendar, find, list } = createSandboxCatalogue();
  const listings = list().filter(({ ticker }) => TICKERS.includes(ticker));
  return { calendar, list: () => listings, find, instrument: () => undefined };
}

/**
 * What happens: ticks are pushed, time passes, the store goes away or comes back, the process is killed. Where `again` is a number, the
 * process that starts after it is killed, too, after so many writes.
 */
type Step =
  | { readonly does: "push"; readonly bids: readonly number[]; readonly sameMs: boolean }
  | { readonly does: "wait"; readonly ms: number }
  | { readonly does: "store"; readonly away: boolean }
  | { readonly does: "kill"; readonly again: number | null };

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        does: fc.constant("push" as const),
        bids: fc.array(fc.integer({ min: 1_000, max: 1_100 }), { minLength: 1, maxLength: 5 }),
        sameMs: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant("wait" as const),
        ms: fc.constantFrom(1, 250, 500, 2_000, 4_000, 60_000, 300_000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("store" as const), away: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("kill" as const), again: fc.option(fc.nat({ max: 3 })) }) },
  ),
  { maxLength: 40 },
);

/** Ticks that a replay writes together. */
const WRITE_COUNT = 3;

/** As given, but a replay makes many writes. */
function inSmallWrites(leadership: Leadership): Leadership {
  return {
    compete: (signal, lead) =>
      leadership.compete(signal, (turn) =>
        lead({ ...turn, beginWriting: (options) => turn.beginWriting({ ...options, writeCount: WRITE_COUNT }) }),
      ),
  };
}

/** A venue whose process can be killed and started again; each process has a clock of its own, so a killed one stands still. */
async function createScene({ keepsTicks = true } = {}) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "spotwire-replay-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store: MemoryKlines = createMemoryKlines();
  async function start(nowMs: number, maxBytes?: number, writesMax = Number.POSITIVE_INFINITY) {
    const clock = manualClock(nowMs);
    let writes = 0;
    /** The files stay as a kill leaves them: what is not stored is in them. */
    async function kill(): Promise<void> {
      await journal?.close();
      await journals?.release();
    }
    let journals: JournalFolder | undefined;
    let journal: Journal | undefined;
    const market = await startMarket({
      files: memoryFiles(),
      venue: "live",
      catalogue: catalogue(),
      store,
      writer: {
        async beginWriter(token, above) {
          const writer = await store.beginWriter(token, above);
          return {
            ...writer,
            async write(...batch) {
              writes += 1;
              if (writes > writesMax) throw new Error("the process is killed");
              return writer.write(...batch);
            },
          };
        },
      },
      ...(keepsTicks && { sourceOf: () => "push" }),
      acceptsPush: true,
      provider: "push",
      clock,
      log,
      metrics: createMetrics(),
      leadership: inSmallWrites(
        leadAlone(clock, async () => {
          const taken = await takeJournals({ folder, clock, log, ...(maxBytes !== undefined && { maxBytes }) });
          journals = {
            ...taken,
            async begin(number) {
              journal = await taken.begin(number);
              return journal;
            },
          };
          return journals;
        }),
      ),
    }).catch(async (error: unknown) => {
      await kill();
      throw error;
    });
    return { clock, market, kill };
  }
  return { folder, store, start };
}

/** Runs the steps, with kills or without them, then a day more; returns what is stored. */
async function run(given: readonly Step[], { kills }: { readonly kills: boolean }) {
  const { store, start } = await createScene();
  let nowMs = START_MS;
  let running = await start(nowMs);
  const acknowledged: Tick[] = [];
  for (const step of given) {
    if (step.does === "wait") {
      nowMs += step.ms;
      await running.clock.advance(step.ms);
    } else if (step.does === "store") store.away(step.away);
    else if (step.does === "kill") {
      // It takes a second to start again.
      nowMs += SECOND_MS;
      if (!kills) {
        await running.clock.advance(SECOND_MS);
        continue;
      }
      await running.kill();
      // The database is there when the service starts.
      store.away(false);
      // It is killed before it is up, or when it is.
      if (step.again !== null)
        await start(nowMs, undefined, step.again).then(
          ({ kill }) => kill(),
          () => undefined,
        );
      running = await start(nowMs);
    } else {
      const ticks = step.bids.map((bid, index) => ({
        ticker: TICKERS[bid % 2] as string,
        time_msc: nowMs + (step.sameMs ? 0 : index),
        bid: bid / 1_000,
        ask: (bid + 1) / 1_000,
      }));
      const outcomes = (await running.market.leader.push(ticks)) ?? [];
      acknowledged.push(...ticks.filter((_, index) => outcomes[index] === null));
    }
  }
  store.away(false);
  await running.market.stop();
  // Everything that was open is closed by the next start.
  nowMs += 3 * DAY_MS;
  await (await start(nowMs)).market.stop();
  const kept = [...(await store.lastQuotes(Number.POSITIVE_INFINITY)).values()];
  const quotes = kept.map(({ ticker, time_msc, bid, ask, ask_high, ask_low }) => [ticker, time_msc, bid, ask, ask_high, ask_low]);
  const keyOf = ({ ticker, timeframe, time }: Kline) => `${ticker} ${timeframe} ${time}`;
  const klines = store.all().sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { acknowledged, klines, quotes: quotes.sort(), kept: keptIn(store) };
}

/** The ticks that were taken and are kept, those of a ticker in their order. */
function keptIn(store: MemoryKlines): Tick[] {
  return store.ticks().flatMap(({ ticker, numbers, outcomes }) =>
    outcomes.flatMap((outcome, row) => {
      const [time_msc = 0, bid = 0, ask = 0] = numbers.slice(5 * row);
      return outcome === TAKEN ? [{ ticker, time_msc, bid, ask }] : [];
    }),
  );
}
const byTicker = (ticks: readonly Tick[]) => TICKERS.map((asked) => ticks.filter(({ ticker }) => ticker === asked));

test("whatever is acknowledged is stored after kills, as if there had been none", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const killed = await run(given, { kills: true });
      const whole = await run(given, { kills: false });
      expect(killed.acknowledged).toEqual(whole.acknowledged);
      expect(byTicker(killed.kept)).toEqual(byTicker(killed.acknowledged));
      expect(killed.klines).toEqual(whole.klines);
      expect(killed.quotes).toEqual(whole.quotes);
      const stored = killed.klines.filter(({ timeframe }) => timeframe === "M1");
      expect(stored.reduce((sum, { tick_volume }) => sum + tick_volume, 0)).toBe(killed.acknowledged.length);
    }),
    { numRuns: 60 },
  );
});

test("where ticks are not kept, a kill keeps none either", async () => {
  const { store, start } = await createScene({ keepsTicks: false });
  const { market, clock, kill } = await start(START_MS);
  await market.leader.push(BATCH);
  await clock.advance(SECOND_MS);
  await kill();
  await (await start(START_MS + SECOND_MS)).market.stop();
  expect(volumeIn(store)).toBe(BATCH.length);
  expect(store.ticks()).toEqual([]);
});

/** Ticks of one ticker, the last two of the same millisecond. */
const BATCH: readonly Tick[] = [0, 1, 1].map((ms, index) => ({
  ticker: "EURUSD",
  time_msc: START_MS + ms,
  bid: (1_000 + index) / 1_000,
  ask: (1_001 + index) / 1_000,
}));
const volumeIn = (store: MemoryKlines) =>
  store.all().reduce((sum, { timeframe, tick_volume }) => sum + (timeframe === "M1" ? tick_volume : 0), 0);

test("a batch that is sent again after a kill is not counted twice", async () => {
  const { store, start } = await createScene();
  const first = await start(START_MS);
  expect(await first.market.leader.push(BATCH)).toEqual([null, null, null]);
  await first.kill();
  const second = await start(START_MS + SECOND_MS);
  expect(await second.market.leader.push(BATCH)).toEqual(["duplicate", "duplicate", "duplicate"]);
  await second.market.stop();
  expect(volumeIn(store)).toBe(BATCH.length);
});

test("where ticks cannot be journaled, a push is acknowledged once they are stored, and refused when they are not", async () => {
  const { folder, store, start } = await createScene();
  const { market, clock, kill } = await start(START_MS);
  await symlink("/dev/full", path.join(folder, "1-0.journal"));
  const pushed = market.leader.push(BATCH.slice(0, 1));
  await clock.advance(SECOND_MS);
  expect(await pushed).toEqual([null]);
  expect(volumeIn(store)).toBe(1);
  store.away(true);
  const refused = expect(market.leader.push(BATCH.slice(1))).rejects.toMatchObject({ id: "service_unavailable" });
  for (let second = 0; second < 12; second += 1) await clock.advance(SECOND_MS);
  await refused;
  await kill();
});

test("pushes are refused at once while the journal is full, and taken again when the database has caught up", async () => {
  const { store, start } = await createScene();
  const { market, clock } = await start(START_MS, 500);
  const push = (ms: number) => market.leader.push([{ ticker: "EURUSD", time_msc: START_MS + ms, bid: 1.1, ask: 1.2 }]);
  store.away(true);
  let taken = 0;
  const fill = async () => {
    for (;;) {
      await push(taken);
      taken += 1;
    }
  };
  await expect(fill()).rejects.toMatchObject({
    id: "service_unavailable",
    data: { detail: "The database has fallen behind, and the journal of ticks is full.", retry_after: 5 },
  });
  expect(market.view.quote("EURUSD")?.time_msc).toBe(START_MS + taken - 1);
  store.away(false);
  // Ticks are written every four seconds, and the journal has them until then.
  await clock.advance(4 * SECOND_MS);
  expect(await push(taken)).toEqual([null]);
  await market.stop();
  expect(volumeIn(store)).toBe(taken + 1);
});

test("ticks that are older than what the database has are not added to it", async () => {
  const { store, start } = await createScene();
  const first = await start(START_MS);
  await first.market.leader.push(BATCH);
  await first.kill();
  // Another database, which knows nothing of this journal.
  const quote = { ticker: "EURUSD", time_msc: START_MS + 5, bid: 1.2, ask: 1.3, ask_high: 1.3, ask_low: 1.3 };
  await store.writeBatch([], [quote]);
  await (await start(START_MS + SECOND_MS)).market.stop();
  expect(volumeIn(store)).toBe(0);
  expect((await store.lastQuotes(Number.POSITIVE_INFINITY)).get("EURUSD")).toEqual(quote);
});

test("a process takes no more pushes once another one stores the data of the venue", async () => {
  const { store, start } = await createScene();
  const { market, clock } = await start(START_MS);
  expect(await market.leader.push(BATCH.slice(0, 1))).toEqual([null]);
  await store.beginWriter(null, 0);
  await clock.advance(SECOND_MS);
  await expect(market.leader.push(BATCH.slice(1))).rejects.toMatchObject({
    id: "service_unavailable",
    data: { detail: "Another process has begun to store the data of this venue." },
  });
  await market.stop();
  expect(volumeIn(store)).toBe(0);
});

test("whatever is acknowledged while the database is away for ten minutes is stored when it is back", async () => {
  const { store, start } = await createScene();
  const { market, clock } = await start(START_MS);
  store.away(true);
  const seconds = 600;
  for (let second = 0; second < seconds; second += 1) {
    const ticks = TICKERS.map((ticker) => ({ ticker, time_msc: clock.now(), bid: 1 + (second % 7), ask: 9 }));
    expect(await market.leader.push(ticks)).toEqual([null, null]);
    await clock.advance(SECOND_MS);
  }
  expect(volumeIn(store)).toBe(0);
  store.away(false);
  await clock.advance(SECOND_MS);
  expect(volumeIn(store)).toBe(seconds * TICKERS.length);
  await market.stop();
});

/** The writing of a process over a writer that a test answers for. */
async function beginWith(journals?: Partial<JournalFolder>) {
  const places = { stored: { journal: 3, ticks: 5 }, kept: { journal: 3, ticks: 4 } };
  const writes: unknown[] = [];
  const asked: unknown[] = [];
  let answer = true;
  const write = async (...args: unknown[]) => {
    writes.push(args);
    return answer;
  };
  const writer = {
    beginWriter: async (...args: unknown[]) => {
      asked.push(args);
      return { number: 8, places, write };
    },
  };
  const [clock, store] = [manualClock(START_MS), createMemoryKlines()];
  const options = { catalogue: catalogue(), store, clock, log, writer, journals: journals as JournalFolder | undefined };
  const writing = await beginWriting(options);
  return { writing, writes, asked, clock, displace: () => (answer = false) };
}

test("where nothing is journaled, pushes are taken as they are judged, and a write stands for no ticks", async () => {
  const { writing, writes, asked, displace } = await beginWith();
  expect(asked).toEqual([[null, 0]]);
  expect([writing.journal, writing.recent]).toEqual([undefined, undefined]);
  await writing.keep()(async () => false);
  await writing.writer.writeBatch([], [], [], 0);
  const nothing = { journal: 8, ticks: 0 };
  expect(writes).toEqual([[[], [], [], { stored: nothing, kept: nothing }]]);
  displace();
  await expect(writing.writer.writeBatch([], [], [], 0)).rejects.toThrow(/nothing was written/);
  expect(() => writing.keep()).toThrow(expect.objectContaining({ id: "service_unavailable" }));
});

test("a writer begins above the newest journal, and a push waits for its own ticks to be journaled", async () => {
  const asked: number[] = [];
  let added = 7;
  const journal = {
    added: () => added,
    isFull: () => false,
    written: async (from: number) => {
      asked.push(from);
      if (asked.length > 1) throw new Error("the disk is gone");
      return true;
    },
  } as unknown as Journal;
  const begun: number[] = [];
  const begin = async (number: number) => {
    begun.push(number);
    return journal;
  };
  const folder = { newest: 6, entries: async function* () {}, begin };
  const scene = await beginWith(folder);
  expect([scene.asked, begun]).toEqual([[[null, 6]], [8]]);
  const keep = async (stored: boolean) => scene.writing.keep()(async () => stored);
  await keep(false);
  added = 9;
  await keep(true);
  await expect(keep(false)).rejects.toMatchObject({ id: "service_unavailable" });
  expect(asked).toEqual([7, 9, 9]);
});

test("a venue whose lease another process holds is not written", async () => {
  const [clock, store] = [manualClock(START_MS), createMemoryKlines()];
  const writer = { beginWriter: async () => null };
  await expect(beginWriting({ catalogue: catalogue(), store, clock, log, writer })).rejects.toThrow(/lease/);
});
