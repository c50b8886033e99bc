import { readLines, type Line as TextLine } from "#lib/market/ndjson";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { Upset } from "../../feed";
import { ask } from "../http";
import type { Link, Received, Upstream } from "../port";
import { Candles, Instruments, readCandles, readLine } from "./wire";

/** A line with the prices of one instrument has about 400 bytes. */
const LINE_MAX_BYTES = 65_536;

/** Candles of one answer: OANDA's maximum. */
const CANDLES_MAX_COUNT = 5_000;

/** An account at OANDA. */
interface OandaAccount {
  readonly token: string;
  readonly account: string;
  readonly environment: "practice" | "live";
  /** Address of a proxy in front of both of OANDA's hosts. */
  readonly url?: string | undefined;
}

const HOSTS = {
  practice: { rest: "https://api-fxpractice.oanda.com", stream: "https://stream-fxpractice.oanda.com" },
  live: { rest: "https://api-fxtrade.oanda.com", stream: "https://stream-fxtrade.oanda.com" },
};

const WRONG_ACCOUNT = "Check OANDA_ACCOUNT, which looks like 101-004-1234567-001.";

/** A 400 names what is wrong, as `Invalid value specified for 'accountID'`; it may have nothing to do with the account. */
function adviceOn400(words: string): string | undefined {
  if (/account/i.test(words)) return WRONG_ACCOUNT;
  if (/instrument/i.test(words)) return "Check FEED_SYMBOLS: this account does not have one of these instruments.";
  return undefined;
}

/** The messages of a group of lines; what cannot be read is reported. */
function receivedIn(lines: readonly TextLine[], link: Link): Received[] {
  return lines.flatMap(({ text }) => {
    link.alive();
    if (text === null) {
      link.odd("too_long", "");
      return [];
    }
    const line = readLine(text);
    if (line === "heartbeat") return [];
    if ("received" in line) return [line.received];
    link.odd(line.odd, text);
    return [];
  });
}

/**
 * Prices of an OANDA v20 account: at most four a second and instrument, the last of each window of 250 ms. A heartbeat comes
 * every five seconds (OANDA's best practices: connect again after ten without one).
 */
export function oandaUpstream({ token, account, environment, url }: OandaAccount): Upstream {
  const base = `/v3/accounts/${encodeURIComponent(account)}`;
  const headers = { authorization: `Bearer ${token}`, "accept-datetime-format": "RFC3339" };
  const other = environment === "practice" ? "live" : "practice";
  const wrongToken = () => `Check OANDA_TOKEN; a token of a ${other} account needs OANDA_ENVIRONMENT=${other}.`;
  const refusals = { 400: adviceOn400, 401: wrongToken, 403: wrongToken, 404: () => WRONG_ACCOUNT };
  return {
    name: "oanda",
    secrets: [token],
    addresses: url === undefined ? Object.values(HOSTS[environment]) : [url],
    declares: {
      stream: { kind: "sampled", windowMs: 250 },
      clock: "source",
      sides: "both",
      idleMs: 10 * SECOND_MS,
      minutes: { pageRows: CANDLES_MAX_COUNT, volume: "ticks", spread: "bound" },
      terms: {
        text: "OANDA's prices are for the holder of the account; passing them on needs an agreement with OANDA.",
        url: "https://www.oanda.com/legal/",
      },
    },
    async instruments({ signal, clock }) {
      const address = `${url ?? HOSTS[environment].rest}${base}/instruments`;
      const response = await ask(address, { headers, signal }, clock.now, refusals);
      const answer = Instruments.safeParse(await response.json().catch(() => undefined));
      if (!answer.success) throw new Upset("the list of instruments cannot be read");
      return answer.data.instruments.map(({ name, displayPrecision }) => ({ symbol: name, digits: displayPrecision }));
    },
    async *minutes(symbol, from, to, { signal, clock }) {
      const path = `/v3/instruments/${encodeURIComponent(symbol)}/candles`;
      // A page begins after the last candle of the one before.
      for (let [next, isFirst] = [from, true]; next < to; isFirst = false) {
        const query = { price: "BA", granularity: "M1", from: new Date(next * SECOND_MS).toISOString() };
        const count = Math.min(CANDLES_MAX_COUNT, Math.ceil((to - next) / MINUTE_S));
        const more = { count: String(count), includeFirst: String(isFirst) };
        const address = `${url ?? HOSTS[environment].rest}${path}?${new URLSearchParams({ ...query, ...more })}`;
        const response = await ask(address, { headers, signal }, clock.now, refusals);
        const answer = Candles.safeParse(await response.json().catch(() => undefined));
        if (!answer.success) throw new Upset("the candles cannot be read");
        const { minutes, last } = readCandles(answer.data);
        const wanted = minutes.filter(({ time }) => time >= next && time < to);
        if (wanted.length > 0) yield wanted;
        // Fewer than asked for: there are no later ones yet.
        if (last === null || answer.data.candles.length < count || (!isFirst && last <= next)) return;
        next = last;
      }
    },
    async *stream(symbols, link) {
      const query = new URLSearchParams({ instruments: symbols.join(","), snapshot: "true" });
      const address = `${url ?? HOSTS[environment].stream}${base}/pricing/stream?${query}`;
      link.step("subscribing");
      const { body } = await ask(address, { headers, signal: link.signal }, link.clock.now, refusals);
      if (body === null) throw new Upset("the stream has no body");
      link.step("live");
      link.alive();
      for await (const lines of readLines(body, { bodyMaxBytes: Number.POSITIVE_INFINITY, lineMaxBytes: LINE_MAX_BYTES })) {
        const received = receivedIn(lines, link);
        if (received.length > 0) yield received;
      }
      throw new Upset("the stream ended");
    },
  };
}
