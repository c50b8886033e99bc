import type { Bar, BarListener, BarSource } from "#lib/client/bar-source";
import { fieldsOf } from "#lib/client/errors";
import type { KlineWindow } from "#lib/contract/kline";
import { createBoardStore } from "../board/board-store";
import { loadLiveMarket } from "../board/use-board";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { send } from "./send";

interface Following {
  readonly bearers: Bearers;
  readonly credential: Credential;
  /** The call of the answer: its path without a query, and what it asked for. */
  readonly path: string;
  readonly klines: Pick<KlineWindow, "ticker" | "timeframe">;
}

/** Follows the klines over the connection that the pages of this browser share. */
function follow({ credential, klines: { ticker, timeframe } }: Following, listener: BarListener): () => void {
  const store = createBoardStore({ rows: [], credential, load: loadLiveMarket });
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
  return {
    read: async ({ to, limit }) => (to === undefined ? readNewest(following, limit) : []),
    follow: (_, listener) => follow(following, listener),
  };
}
