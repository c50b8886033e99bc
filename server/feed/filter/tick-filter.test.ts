import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FilterReason } from "#lib/contract/ingest";
import { TICK_VOLUME_MAX } from "#lib/contract/limits";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Tick } from "#lib/domain/tick";
import { createTickFilter } from "./tick-filter";

const NOW_MS = Date.UTC(2026, 0, 7, 12);
const OPEN = compileCalendar({ kind: "always" }, []);
const CLOSED = { kind: "never" } as const;
const listings = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing]));

interface Settings {
  readonly calendar?: Calendar;
  readonly off?: readonly FilterReason[];
  readonly quote?: { bid: number; ask: number };
}

/** A filter, and what became of the ticks that it was given. */
function filtered({ calendar = OPEN, off = [], quote }: Settings = {}) {
  const [passed, heldBack, wide]: [Tick[], [Tick, FilterReason][], Tick[]] = [[], [], []];
  const filter = createTickFilter({
    listingOf: (ticker) => listings.get(ticker),
    calendarOf: () => calendar,
    quoteOf: () => quote,
    off: new Set(off),
    heldBack: (tick, reason) => void heldBack.push([tick, reason]),
    wide: (tick) => void wide.push(tick),
  });
  function give(tick: Tick, nowMs = tick.time_msc): FilterReason | null {
    const reason = filter.judge(tick, nowMs);
    passed.push(...filter.released());
    if (reason === null) passed.push(tick);
    return reason;
  }
  return {
    passed,
    heldBack,
    wide,
    give,
    expire: filter.expire,
    holds: filter.holds,
    bids: () => passed.map(({ bid }) => bid),
    /** Twenty quiet ticks at a price, one every 100 ms, ending before NOW_MS. */
    settle(bid = 1.1, ticker = "EURUSD") {
      for (let at = 20; at > 0; at -= 1) give(tickOf(bid + (at % 2) * 0.00001, -100 * at, ticker));
      passed.length = 0;
    },
  };
}

const tickOf = (bid: number, ms = 0, ticker = "EURUSD"): Tick => ({
  ticker,
  time_msc: NOW_MS + ms,
  bid,
  ask: bid * 1.0001,
});

describe("a price far from the others", () => {
  test("alone is kept out, and recorded once the next one disagrees", () => {
    const { settle, give, passed, heldBack } = filtered();
    settle();
    const bad = tickOf(1.2);
    expect(give(bad)).toBe("spike");
    expect(heldBack).toEqual([]);
    expect(give(tickOf(1.1, 100))).toBeNull();
    expect([passed.map(({ bid }) => bid), heldBack]).toEqual([[1.1], [[bad, "spike"]]]);
  });

  test("is let through with the two that agree within a second, in order", () => {
    const { settle, give, bids, heldBack } = filtered();
    settle();
    expect([give(tickOf(1.12)), give(tickOf(1.1201, 300)), give(tickOf(1.1199, 600))]).toEqual(["spike", "spike", null]);
    expect([bids(), heldBack]).toEqual([[1.12, 1.1201, 1.1199], []]);
    expect(give(tickOf(1.12, 700))).toBeNull();
    expect(give(tickOf(1.1, 800))).toBe("spike");
  });

  test("of a slow ticker is believed at the third tick; the ones that waited for more than a second stay out", () => {
    const { settle, give, bids, heldBack, expire } = filtered();
    settle();
    expect(give(tickOf(1.12))).toBe("spike");
    expire(NOW_MS + 1_000);
    expect(heldBack).toEqual([]);
    expire(NOW_MS + 1_001);
    expect(heldBack.map(([{ bid }]) => bid)).toEqual([1.12]);
    expect(give(tickOf(1.1201, 5_000))).toBe("spike");
    expect(give(tickOf(1.1202, 10_000))).toBeNull();
    expect([bids(), heldBack.map(([{ bid }]) => bid)]).toEqual([[1.1202], [1.12, 1.1201]]);
  });

  test("proves nothing by being repeated", () => {
    const { settle, give, passed } = filtered();
    settle();
    for (let count = 0; count < 10; count += 1) expect(give(tickOf(1.12))).toBe("spike");
    expect(passed).toEqual([]);
  });

  test("is held as before when its batch is sent again", () => {
    const { settle, give, bids, heldBack, holds } = filtered();
    settle();
    const [first, second, third] = [tickOf(1.12), tickOf(1.1201, 100), tickOf(1.1202, 200)];
    expect([first, second, first, second, third].map((tick) => [give(tick, NOW_MS + 300), holds()])).toEqual([
      ["spike", true],
      ["spike", true],
      ["spike", false],
      ["spike", false],
      [null, false],
    ]);
    expect([bids(), heldBack]).toEqual([[1.12, 1.1201, 1.1202], []]);
  });

  test("by a factor is never believed once a level is known, not even in the first minute of a session", () => {
    const calendar = compileCalendar({ kind: "cycle", anchorS: NOW_MS / 1_000, openS: 3_600, closedS: 3_600 }, []);
    const off = ["implausible_price" as const];
    for (const settings of [{ off }, { calendar, off: [...off, "market_closed" as const] }]) {
      const { settle, give, passed, heldBack } = filtered(settings);
      settle();
      for (let at = 0; at < 50; at += 1) expect(give(tickOf(9.9e11, at * 100))).toBe("spike");
      expect(passed).toEqual([]);
      expect(heldBack.length).toBeGreaterThanOrEqual(48);
    }
  });

  test("is no spike where the ticker usually moves that much, and metals may move more than currencies", () => {
    const wild = filtered();
    for (let at = 0; at < 64; at += 1) wild.give(tickOf(1.1 + (at % 2) * 0.001, at - 100));
    expect(wild.give(tickOf(1.13))).toBeNull();
    const gold = filtered();
    gold.settle(4_000, "XAUUSD");
    expect(gold.give(tickOf(4_030, 0, "XAUUSD"))).toBeNull();
    expect(gold.give(tickOf(4_050, 1, "XAUUSD"))).toBe("spike");
  });

  test("is compared with the quote from before a restart; a real move is believed at the third tick", () => {
    const { give, bids } = filtered({ quote: { bid: 1.1, ask: 1.1001 } });
    expect([give(tickOf(1.2)), give(tickOf(1.2, 1)), give(tickOf(1.2, 2))]).toEqual(["spike", "spike", null]);
    expect(bids()).toHaveLength(3);
    expect(filtered().give(tickOf(1.2))).toBeNull();
  });

  test("is taken in the first minute after an open", () => {
    const calendar = compileCalendar({ kind: "cycle", anchorS: NOW_MS / 1_000, openS: 3_600, closedS: 3_600 }, []);
    const { settle, give } = filtered({ calendar, off: ["market_closed"] });
    settle();
    expect(give(tickOf(1.12))).toBeNull();
    expect(give(tickOf(1.1, 59_999))).toBeNull();
    expect(give(tickOf(1.12, 60_000))).toBe("spike");
  });
});

describe("other ticks", () => {
  test("of a closed market are kept out, unless an operator decides about the market", () => {
    const closed = filtered({ calendar: compileCalendar(CLOSED, []) });
    expect(closed.give(tickOf(1.1))).toBe("market_closed");
    expect(closed.heldBack).toHaveLength(1);
    for (const state of ["open", "closed"] as const) {
      const override = { state, fromMs: NOW_MS, untilMs: NOW_MS + 1_000 };
      const { give } = filtered({ calendar: compileCalendar(CLOSED, [override]) });
      expect([give(tickOf(1.1, -1)), give(tickOf(1.1)), give(tickOf(1.1, 999)), give(tickOf(1.1, 1_000))]).toEqual([
        "market_closed",
        null,
        null,
        "market_closed",
      ]);
    }
    expect(filtered({ calendar: compileCalendar(undefined, []) }).give(tickOf(1.1))).toBeNull();
  });

  test("with an impossible volume are kept out", () => {
    const { give } = filtered();
    expect(give({ ...tickOf(1.1), volume: TICK_VOLUME_MAX })).toBeNull();
    expect(give({ ...tickOf(1.1, 1), volume: TICK_VOLUME_MAX + 1 })).toBe("volume_out_of_range");
  });

  test("with a wide spread are let through and counted", () => {
    const { give, wide } = filtered();
    for (let minute = 0; minute < 5; minute += 1) give(tickOf(1.1, minute * 60_000));
    const [narrow, broad] = [0.00011 * 19, 0.00011 * 21].map((spread) => ({ ...tickOf(1.1, 300_000), ask: 1.1 + spread }));
    for (const tick of [narrow, broad]) if (tick !== undefined) expect(give(tick)).toBeNull();
    expect(wide).toEqual([broad]);
  });

  test.each([
    ["market_closed", tickOf(1.1), { calendar: compileCalendar(CLOSED, []) }],
    ["spike", tickOf(1.6), { quote: { bid: 1.1, ask: 1.1 } }],
    ["volume_out_of_range", { ...tickOf(1.1), volume: 1e300 }, {}],
  ] as const)("are let through where %s is switched off", (reason, tick, settings) => {
    expect(filtered(settings).give(tick)).toBe(reason);
    expect(filtered({ ...settings, off: [reason] }).give(tick)).toBeNull();
  });
});

describe("whatever comes", () => {
  const price = fc.oneof(
    { weight: 6, arbitrary: fc.double({ min: 1.099, max: 1.101, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: 1e-9, max: 9e11, noNaN: true }) },
    { weight: 2, arbitrary: fc.constantFrom(1.12, 1.1201, 1.1202) },
  );
  const ticks = fc.array(fc.tuple(fc.integer({ min: 0, max: 1_500 }), price), { maxLength: 200 });

  test("each tick passes once or is kept out once, and those that pass keep their order", () => {
    fc.assert(
      fc.property(ticks, (steps) => {
        const { give, passed, heldBack, expire } = filtered();
        let ms = 0;
        const given = steps.map(([step, bid]) => {
          ms += step + 1;
          const tick = tickOf(bid, ms);
          give(tick);
          expire(NOW_MS + ms);
          return tick;
        });
        expire(Number.POSITIVE_INFINITY);
        expect(new Set([...passed, ...heldBack.map(([tick]) => tick)])).toEqual(new Set(given));
        expect(passed.length + heldBack.length).toBe(given.length);
        expect(passed.map(({ time_msc }) => time_msc)).toEqual(passed.map(({ time_msc }) => time_msc).sort((a, b) => a - b));
      }),
    );
  });

  test("prices within the band of the last ones always pass", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1.1, max: 1.103, noNaN: true }), { maxLength: 300 }), (bids) => {
        const { give } = filtered();
        for (const [at, bid] of bids.entries()) expect(give(tickOf(bid, at))).toBeNull();
      }),
    );
  });
});

describe("a price that its pair cannot have", () => {
  test.each([
    ["USDJPY", 1.16],
    ["XAUUSD", 0.58],
    ["EURUSD", 12],
  ])("%s at %d is kept out before any other price came, however often it comes", (ticker, bid) => {
    const { give, heldBack, passed } = filtered();
    for (let at = 0; at < 5; at += 1) expect(give(tickOf(bid + at * 0.0001, at * 100, ticker))).toBe("implausible_price");
    expect([heldBack.length, passed.length]).toEqual([5, 0]);
    expect(filtered({ off: ["implausible_price"] }).give(tickOf(bid, 0, ticker))).toBeNull();
  });

  test("prices of today are not, of any instrument that ships", () => {
    const { give } = filtered();
    const today = { EURUSD: 1.16, USDJPY: 157, XAUUSD: 4_100, XAGUSD: 51, GBPJPY: 205, EURHUF: 382, USDTRY: 42 };
    for (const [ticker, bid] of Object.entries(today)) expect([ticker, give(tickOf(bid, 0, ticker))]).toEqual([ticker, null]);
  });
});
