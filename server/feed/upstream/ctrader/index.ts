import { MINUTE_MS } from "#lib/units";
import type { Declaration, Link, Received, Upstream } from "../port";
import { type Conversation, type CtraderSettings, createAccount, payloadOf } from "./account";
import { trendbars, WINDOW_MAX_ROWS } from "./trendbars";
import { TYPES } from "./wire";

/** The Open API takes 50 requests a second. */
const REQUEST_PAUSE_MS = 25;
/** ProtoOATrendbarPeriod.M1 */
const MINUTES_PERIOD = 1;

const declares = (times: CtraderSettings["times"]): Declaration => ({
  stream: { kind: "every" },
  clock: times === "source" ? "source" : "none",
  sides: "changed",
  // Its heartbeat comes every 25 to 30 s.
  idleMs: MINUTE_MS,
  // Bars of bid prices alone: they say nothing of the spread.
  minutes: { pageRows: WINDOW_MAX_ROWS, volume: "ticks", spread: "none" },
  terms: {
    text: "The terms of your broker decide whether prices of a cTrader account may be passed on.",
    url: "https://openapi.ctrader.com/",
  },
});

/** Prices of a cTrader account, through the Open API as JSON over WebSocket. */
export function ctraderUpstream(settings: CtraderSettings): Upstream {
  const { account } = settings;
  const { ids, converse, loadSymbols, address, expiresAt, secrets } = createAccount(settings);

  /** Subscribes to all symbols at once; one by one where that is refused because of one of them. */
  async function subscribe(conversation: Conversation, symbols: readonly string[], link: Link): Promise<void> {
    const request = (symbolId: readonly number[]) =>
      conversation.ask(TYPES.subscribeSpots, { ctidTraderAccountId: account, symbolId, subscribeToSpotTimestamp: true });
    const numbers = symbols.map((symbol) => ids.get(symbol)).filter((id) => id !== undefined);
    const all = await request(numbers);
    if (!("failure" in all)) return;
    if (!all.failure.isSymbol) throw all.failure.problem;
    let refused = 0;
    for (const symbol of symbols) {
      await link.clock.wait(REQUEST_PAUSE_MS, link.signal);
      const one = await request([ids.get(symbol) ?? 0]);
      if (!("failure" in one)) continue;
      if (!one.failure.isSymbol) throw one.failure.problem;
      link.odd("refused_symbol", `${symbol}: ${one.failure.code}`);
      refused += 1;
    }
    if (refused === symbols.length) throw all.failure.problem;
  }

  return {
    name: "ctrader",
    declares: declares(settings.times),
    get secrets() {
      return secrets();
    },
    addresses: [address],
    expiresAt,
    async instruments({ signal, clock }) {
      const conversation = await converse({ signal, clock, alive: () => undefined, odd: () => undefined });
      try {
        await loadSymbols(conversation);
        return [...ids.keys()].map((symbol) => ({ symbol }));
      } finally {
        conversation.close();
      }
    },
    async *minutes(symbol, from, to, { signal, clock }) {
      const conversation = await converse({ signal, clock, alive: () => undefined, odd: () => undefined });
      try {
        if (!ids.has(symbol)) await loadSymbols(conversation);
        const asked = { ctidTraderAccountId: account, symbolId: ids.get(symbol), period: MINUTES_PERIOD };
        const ask = async (fromTimestamp: number, toTimestamp: number) =>
          payloadOf(await conversation.ask(TYPES.trendbars, { ...asked, fromTimestamp, toTimestamp }));
        yield* trendbars({ ask, clock, signal }, from, to);
      } finally {
        conversation.close();
      }
    },
    async *stream(symbols, link) {
      link.step("authenticating");
      const conversation = await converse(link);
      try {
        link.step("subscribing");
        await subscribe(conversation, symbols, link);
        link.step("live");
        const names = new Map([...ids].map(([name, id]) => [String(id), name]));
        const named = (received: Received): Received => ({ ...received, symbol: names.get(received.symbol) ?? received.symbol });
        for (;;) {
          const received = await conversation.prices();
          if (received.length > 0) yield received.map(named);
        }
      } finally {
        conversation.close();
      }
    },
  };
}
