import type { Timeframe } from "#lib/contract/primitives";
import type { KlineMessage } from "#lib/contract/stream";
import type { Client } from "../client";
import type { ClientClock } from "../clock";
import { asSpotwireError, type SpotwireError } from "../errors";
import type { Stream, StreamListener } from "../stream";
import type { Subscription } from "../subscription";
import { barOf } from "./history";
import type { LibraryBar } from "./library";

/** Corrections come in groups: after the first one, the library loads again once. */
const RESET_AFTER_MS = 1_000;

/** Live bars of one chart. */
interface Listener {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  /** The newest bar that the library has, if it has one. */
  readonly newest: LibraryBar | undefined;
  onBar(bar: LibraryBar): void;
  /** Bars that the library keeps are wrong or missing. */
  onReset(): void;
}

interface Followed extends Listener {
  last: LibraryBar | undefined;
  previous: LibraryBar | undefined;
  subscription: Subscription | undefined;
  readonly ended: AbortController;
  resetting: boolean;
  /** The stream was away, and nothing has come since. */
  away: boolean;
}

interface LiveOptions {
  readonly client: Client;
  /** A stream that others use too; undefined for one of its own. */
  readonly shared: Stream | undefined;
  readonly clock: ClientClock;
  readonly onError: (error: SpotwireError) => void;
}

/** Follows the bars of all charts over one stream. */
interface Live {
  /** Replaces a listener with the same id. */
  follow(id: string, listener: Listener): void;
  unfollow(id: string): void;
  close(): void;
}

const FIELDS = ["time", "open", "high", "low", "close", "volume"] as const;
const isSame = (a: LibraryBar | undefined, b: LibraryBar) => a !== undefined && FIELDS.every((field) => a[field] === b[field]);

/**
 * Makes the live part of a datafeed. The library takes changes of its newest bar and newer bars only. For any other change it has to
 * load its bars again: a gap in the stream, a bar that closed while the stream was away, a correction or a removal of an older bar.
 */
export function createLive({ client, shared, clock, onError }: LiveOptions): Live {
  const followed = new Map<string, Followed>();
  let stream: Stream | undefined;
  const listener: StreamListener = {
    onError,
    onGap({ stream: name, ticker, timeframe }) {
      if (name !== "kline") return;
      for (const one of followed.values()) if (one.ticker === ticker && one.timeframe === timeframe) reset(one);
    },
    onStateChange({ state }) {
      if (state === "waiting") for (const one of followed.values()) one.away = true;
    },
  };
  const stopListening = shared?.listen(listener);

  function reset(one: Followed): void {
    if (one.resetting) return;
    one.resetting = true;
    void clock.wait(RESET_AFTER_MS, one.ended.signal).then(() => {
      one.resetting = false;
      if (!one.ended.signal.aborted) one.onReset();
    });
  }

  function onRecord(one: Followed, { event, data }: KlineMessage): void {
    const { last, previous } = one;
    const bar = barOf(data, one.timeframe);
    // What came meanwhile was not replayed: corrections of older bars can be among it, also where closed klines are recovered.
    if (one.away && event === "snapshot") reset(one);
    one.away = false;
    if (event === "removal") {
      reset(one);
      return;
    }
    if (last !== undefined && bar.time < last.time) {
      // A kline closes after the next one began, mostly with the values that the library has.
      if (!isSame(previous, bar)) reset(one);
      return;
    }
    if (last !== undefined && bar.time > last.time) {
      // What was current before is not what the library has: bars can have closed unseen.
      if (event === "snapshot") reset(one);
      one.previous = last;
    }
    one.last = bar;
    if (!isSame(last, bar)) one.onBar(bar);
  }

  function subscribe(over: Stream, one: Followed): void {
    const selection = { stream: "kline", tickers: [one.ticker], timeframe: one.timeframe } as const;
    one.subscription = over.subscribe(selection, (message) => onRecord(one, message));
    // A refusal also goes to `onError` of the stream.
    one.subscription.ready.catch(() => undefined);
  }

  /** The stream, or another one after its end, which all charts follow again. */
  function openStream(): Stream {
    if (shared !== undefined) return shared;
    if (stream !== undefined && stream.state !== "closed") return stream;
    // The library loads its bars again, corrected ones among them.
    const opened = client.stream({ ...listener, recover: false });
    stream = opened;
    for (const one of followed.values()) subscribe(opened, one);
    return opened;
  }

  function unfollow(id: string): void {
    const one = followed.get(id);
    if (one === undefined) return;
    followed.delete(id);
    one.ended.abort();
    one.subscription?.unsubscribe();
  }

  return {
    follow(id, listener) {
      unfollow(id);
      const one: Followed = {
        ...listener,
        last: listener.newest,
        previous: undefined,
        subscription: undefined,
        ended: new AbortController(),
        resetting: false,
        away: false,
      };
      try {
        subscribe(openStream(), one);
        followed.set(id, one);
      } catch (thrown) {
        onError(asSpotwireError(thrown, "The stream could not be opened"));
      }
    },
    unfollow,
    close() {
      for (const id of [...followed.keys()]) unfollow(id);
      stopListening?.();
      stream?.close();
      stream = undefined;
    },
  };
}
