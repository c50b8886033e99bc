import { fieldsOf, parseJson } from "#lib/client/errors";
import type { Kline, KlineWindow } from "#lib/contract/kline";
import { closeSentence } from "./closes";
import type { Bearers } from "./credential";
import type { Credential, StreamOperation } from "./model";
import { openSession } from "./session";

/** Whether a chart is live; `why` says why it is not. */
export interface LiveState {
  readonly phase: "history" | "connecting" | "live" | "stopped";
  readonly why?: string;
}

interface Following {
  readonly bearers: Bearers;
  readonly credential: Credential;
  readonly stream: StreamOperation;
  readonly klines: Pick<KlineWindow, "ticker" | "timeframe">;
  readonly update: (kline: Kline) => void;
  readonly tell: (state: LiveState) => void;
}

/** Follows the klines of a chart over its own connection, until the returned function is called. */
export function followKlines({ bearers, credential, stream, klines, update, tell }: Following): () => void {
  const { ticker, timeframe } = klines;
  let welcome = false;
  tell({ phase: "connecting" });
  const session = openSession(
    bearers,
    { operation: stream, credential },
    {
      onText(text) {
        const { type, data, closed } = fieldsOf(parseJson(text));
        if (!welcome) session.send({ id: 1, method: "subscribe", params: { stream: "kline", tickers: [ticker], timeframe } });
        welcome = true;
        if (type === "kline" && typeof closed === "boolean") {
          tell({ phase: "live" });
          update(data as Kline);
        }
      },
      onEnd: ({ code, trouble }) => tell({ phase: "stopped", why: trouble?.says ?? closeSentence(code) }),
    },
  );
  return session.close;
}
