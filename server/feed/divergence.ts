import { MINUTE_MS, SECOND_MS } from "#lib/units";

/** Two prices differ from so many of the larger spread on. */
const SPREADS_COUNT = 10;
/** They diverge once they have differed for so long. */
const DIVERGENT_AFTER_MS = MINUTE_MS;
/** An older price is not compared. */
const PRICE_MAX_AGE_MS = 30 * SECOND_MS;

interface Price {
  readonly bid: number;
  readonly ask: number;
  readonly atMs: number;
}

interface Compared {
  /** The last price of each provider. */
  readonly prices: Map<string, Price>;
  /** Since when the price of a provider differs from that of the one in force, and whether that was reported. */
  readonly differing: Map<string, { readonly sinceMs: number; reported: boolean }>;
}

/** A provider whose prices of a ticker differ from those that are taken. */
interface Divergent {
  readonly name: string;
  readonly ticker: string;
  readonly sinceMs: number;
}

const mid = ({ bid, ask }: Price) => (bid + ask) / 2;
const spread = ({ bid, ask }: Price) => Math.max(0, ask - bid);

/** @param point one unit of the last digit: no spread is smaller */
function differ(one: Price, other: Price, point: number): boolean {
  return Math.abs(mid(one) - mid(other)) > SPREADS_COUNT * Math.max(spread(one), spread(other), point);
}

/** Compares the prices of several providers with those of the one in force. It decides nothing. Instants are Unix milliseconds. */
export function createDivergence() {
  const tickers = new Map<string, Compared>();

  return {
    tick(name: string, ticker: string, price: Price): void {
      let compared = tickers.get(ticker);
      if (compared === undefined) {
        compared = { prices: new Map(), differing: new Map() };
        tickers.set(ticker, compared);
      }
      compared.prices.set(name, price);
    },
    /** Compares the prices of a ticker; call it each second. @returns who has begun to diverge since the last call */
    look(ticker: string, inForce: string | undefined, point: number, nowMs: number): string[] {
      const { prices, differing } = tickers.get(ticker) ?? { prices: new Map<string, Price>(), differing: new Map() };
      const taken = inForce === undefined ? undefined : prices.get(inForce);
      const isFresh = ({ atMs }: Price) => nowMs - atMs <= PRICE_MAX_AGE_MS;
      const begun: string[] = [];
      for (const [name, price] of prices) {
        const compares = name !== inForce && taken !== undefined && isFresh(taken) && isFresh(price);
        const known = differing.get(name);
        if (!compares || !differ(taken, price, point)) differing.delete(name);
        else if (known === undefined) differing.set(name, { sinceMs: nowMs, reported: false });
        else if (!known.reported && nowMs - known.sinceMs >= DIVERGENT_AFTER_MS) {
          known.reported = true;
          begun.push(name);
        }
      }
      return begun;
    },
    /** All that have differed for long enough. */
    list(): Divergent[] {
      return [...tickers].flatMap(([ticker, { differing }]) =>
        [...differing].flatMap(([name, { sinceMs, reported }]) => (reported ? [{ name, ticker, sinceMs }] : [])),
      );
    },
  };
}
