import { MINUTE_MS } from "#lib/units";
import { Upset } from "../../feed";
import type { KeptSecrets } from "../kept-secrets";
import type { Declaration, Heard, Link, Upstream } from "../port";
import { openConversation } from "./conversation";
import { createTokens } from "./tokens";
import { Granted, SymbolsList, TYPES } from "./wire";

/** The Open API takes 50 requests a second. */
const REQUEST_PAUSE_MS = 25;
const HOSTS = { demo: "wss://demo.ctraderapi.com:5036", live: "wss://live.ctraderapi.com:5036" };

interface CtraderAccount {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** The ctidTraderAccountId. */
  readonly account: number;
  readonly environment: "demo" | "live";
  /** arrival: prices get the time at which they arrive, for brokers that send none. */
  readonly times: "source" | "arrival";
  readonly kept: KeptSecrets;
  /** Address of a proxy. */
  readonly url?: string | undefined;
}

type Conversation = ReturnType<typeof openConversation>;
type Asked = Awaited<ReturnType<Conversation["ask"]>>;

/** The payload of an answer. @throws what a failure means */
function payloadOf(answer: Asked): unknown {
  if ("failure" in answer) throw answer.failure.problem;
  return answer.payload;
}

const declares = (times: CtraderAccount["times"]): Declaration => ({
  stream: { kind: "every" },
  clock: times === "source" ? "source" : "none",
  sides: "changed",
  // Its heartbeat comes every 25 to 30 s.
  idleMs: MINUTE_MS,
  terms: {
    text: "The terms of your broker decide whether prices of a cTrader account may be passed on.",
    url: "https://openapi.ctrader.com/",
  },
});

/** Prices of a cTrader account, through the Open API as JSON over WebSocket. */
export function ctraderUpstream(settings: CtraderAccount): Upstream {
  const { clientId, clientSecret, account, environment, times, url = HOSTS[environment] } = settings;
  const tokens = createTokens(settings);
  const declared = declares(times);
  const ids = new Map<string, number>();

  async function renewed(conversation: Conversation, link: Pick<Link, "clock">): Promise<string> {
    return tokens.renew(link.clock, async (refreshToken) => {
      const granted = Granted.safeParse(payloadOf(await conversation.ask(TYPES.refreshToken, { refreshToken })));
      if (!granted.success) throw new Upset("the answer to the renewal of the access token cannot be read");
      return granted.data;
    });
  }

  /** Opens a connection and authenticates; renews the access token when it is old or no longer valid. */
  async function converse(link: Omit<Link, "step">): Promise<Conversation> {
    const conversation = openConversation(url, link, declared.idleMs / 3);
    const authenticate = (accessToken: string) =>
      conversation.ask(TYPES.accountAuth, { ctidTraderAccountId: account, accessToken });
    try {
      await conversation.opened;
      payloadOf(await conversation.ask(TYPES.applicationAuth, { clientId, clientSecret }));
      const stored = await tokens.read();
      const old = tokens.canRenew() && tokens.isOld(link.clock.now());
      let answer = await authenticate(old ? await renewed(conversation, link) : stored);
      if ("failure" in answer && answer.failure.isToken && tokens.canRenew())
        answer = await authenticate(await renewed(conversation, link));
      payloadOf(answer);
      return conversation;
    } catch (error) {
      conversation.close();
      throw error;
    }
  }

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
    declares: declared,
    get secrets() {
      return [clientSecret, ...tokens.secrets()];
    },
    addresses: [url],
    expiresAt: tokens.expiresAt,
    async instruments({ signal, clock }) {
      const conversation = await converse({ signal, clock, alive: () => undefined, odd: () => undefined });
      try {
        const list = SymbolsList.safeParse(
          payloadOf(await conversation.ask(TYPES.symbolsList, { ctidTraderAccountId: account })),
        );
        if (!list.success) throw new Upset("the list of symbols cannot be read");
        ids.clear();
        for (const { symbolId, symbolName, enabled } of list.data.symbol)
          if (symbolName != null && enabled !== false) ids.set(symbolName, symbolId);
        return [...ids.keys()].map((symbol) => ({ symbol }));
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
        const named = (heard: Heard): Heard => ({ ...heard, symbol: names.get(heard.symbol) ?? heard.symbol });
        for (;;) {
          const heard = await conversation.prices();
          if (heard.length > 0) yield heard.map(named);
        }
      } finally {
        conversation.close();
      }
    },
  };
}
