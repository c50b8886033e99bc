import { fieldsOf, parseJson } from "#lib/client/errors";
import type { Kline, KlineWindow } from "#lib/contract/kline";
import { createBoardStore } from "../board/board-store";
import { loadLiveMarket } from "../board/use-board";
import type { Bar, BarListener, BarSource } from "../chart/source";
import { whileVisible } from "../portal/while-visible";
import { closeSentence } from "./closes";
import type { Bearers } from "./credential";
import type { Credential, StreamOperation } from "./model";
import { send } from "./send";
import { openSession } from "./session";

interface Following {
  readonly bearers: Bearers;
  readonly credential: Credential;
  readonly stream: StreamOperation;
  /** The call of the answer: its path without a query, and what it asked for. */
  readonly path: string;
  readonly klines: Pick<KlineWindow, "ticker" | "timeframe">;
}

/** Follows the klines over a connection of its own. */
function followAlone({ bearers, credential, stream, klines }: Following, listener: BarListener): () => void {
  const { ticker, timeframe } = klines;
  let welcome = false;
  listener.onState({ phase: "connecting" });
  const session = openSession(
    bearers,
    { operation: stream, credential },
    {
      onText(text) {
        const { type, event, data, closed } = fieldsOf(parseJson(text));
        if (!welcome) session.send({ id: 1, method: "subscribe", params: { stream: "kline", tickers: [ticker], timeframe } });
        welcome = true;
        if (type === "kline" && typeof closed === "boolean") {
          listener.onState({ phase: "live" });
          listener.onBar(data as Kline, event === "removal");
        }
      },
      onEnd: ({ code, trouble }) => listener.onState({ phase: "stopped", why: trouble?.says ?? closeSentence(code) }),
    },
  );
  return () => {
    session.close();
    listener.onState({ phase: "stopped" });
  };
}

/** Follows the klines over the connection that the pages of this browser share. */
function followShared(key: string, { ticker, timeframe }: Following["klines"], listener: BarListener): () => void {
  const store = createBoardStore({ rows: [], demoKey: key, load: loadLiveMarket });
  const unfollow = store.bars(ticker).follow?.(timeframe, listener);
  const stop = store.start();
  return () => {
    unfollow?.();
    stop();
  };
}

/** The newest klines, over REST. @throws Error when the service refuses or does not answer */
async function readNewest(
  { bearers, credential, path, klines: { ticker, timeframe } }: Following,
  limit: number,
): Promise<Bar[]> {
  const query = new URLSearchParams({ ticker, timeframe, limit: String(limit) });
  const { answer, trouble } = await send(bearers, { method: "GET", url: `${path}?${query}`, credential });
  if (trouble !== undefined) throw new Error(trouble.says);
  return (fieldsOf(answer?.body).data as KlineWindow).items;
}

/**
 * The source of a chart that continues an answer while the page is visible. It reads only what closed while it was hidden or cut off:
 * the answer says where the chart begins.
 */
export function liveKlines(following: Following): BarSource {
  const { credential, klines } = following;
  return {
    read: async ({ to, limit }) => (to === undefined ? readNewest(following, limit) : []),
    follow: (_, listener) =>
      credential.kind === "demo"
        ? followShared(credential.key, klines, listener)
        : whileVisible(() => followAlone(following, listener)),
  };
}
