import { DataTickersQuery } from "#lib/contract/portal-data";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Lists the instruments with what is stored of each. */
export const GET = portalRoute({ input: DataTickersQuery, user: "operator" }, ({ input, running }) =>
  running.storedData.tickers(input),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
