import { DataComparisonQuery } from "#lib/contract/portal-data";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Compares two sources of a ticker, year by year. */
export const GET = portalRoute({ input: DataComparisonQuery, user: "operator" }, ({ input, params, running }) =>
  running.storedData.compare(params.ticker ?? "", input),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
