import { SECOND_MS } from "#lib/units";
import { Upset } from "../../feed";
import type { KeptSecrets } from "../kept-secrets";
import type { Link } from "../port";
import { openConversation } from "./conversation";
import { createTokens } from "./tokens";
import { Granted, SymbolsList, TYPES } from "./wire";

const HOSTS = { demo: "wss://demo.ctraderapi.com:5036", live: "wss://live.ctraderapi.com:5036" };
/** How often a connection is pinged. */
const PING_MS = 20 * SECOND_MS;

export interface CtraderSettings {
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

export type Conversation = ReturnType<typeof openConversation>;
type Asked = Awaited<ReturnType<Conversation["ask"]>>;

/** The payload of an answer. @throws what a failure means */
export function payloadOf(answer: Asked): unknown {
  if ("failure" in answer) throw answer.failure.problem;
  return answer.payload;
}

/** An account: connections that are authenticated, and the ids of its symbols. */
export function createAccount(settings: CtraderSettings) {
  const { clientId, clientSecret, account, environment, url = HOSTS[environment] } = settings;
  const tokens = createTokens(settings);
  /** By the names that the broker gives them. */
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
    const conversation = openConversation(url, link, PING_MS);
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

  /** Learns the ids of the symbols, which differ from broker to broker. */
  async function loadSymbols(conversation: Conversation): Promise<void> {
    const list = SymbolsList.safeParse(payloadOf(await conversation.ask(TYPES.symbolsList, { ctidTraderAccountId: account })));
    if (!list.success) throw new Upset("the list of symbols cannot be read");
    ids.clear();
    for (const { symbolId, symbolName, enabled } of list.data.symbol)
      if (symbolName != null && enabled !== false) ids.set(symbolName, symbolId);
  }

  return {
    ids,
    converse,
    loadSymbols,
    address: url,
    expiresAt: tokens.expiresAt,
    secrets: () => [clientSecret, ...tokens.secrets()],
  };
}
