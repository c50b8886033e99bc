import { toInstrument } from "#lib/domain/instrument";
import type { Call, DataReply } from "./question";

/** The instruments of the caller's account, by asset class, then ticker. */
export function instruments({ market, mayRead }: Call<object>): DataReply {
  return { data: { items: market.catalogue.list().filter(mayRead).map(toInstrument) } };
}
