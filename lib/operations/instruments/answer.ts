import { toInstrument } from "#lib/domain/instrument";
import { route } from "#lib/http/route";
import { instruments } from "./declaration";

/** The instruments of the caller's account that match the query, by asset class, then ticker. */
export const handler = route(instruments, ({ query: { asset_class, currency }, market, mayRead }) => ({
  data: {
    items: market.catalogue
      .list()
      .filter(mayRead)
      .map(toInstrument)
      .filter((one) => asset_class === undefined || one.asset_class === asset_class)
      .filter((one) => currency === undefined || one.base_currency === currency || one.quote_currency === currency),
  },
}));
