import { DataYearsQuery } from "#lib/contract/portal-data";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The years of a ticker with their coverage and gaps, newest first. */
export const GET = portalRoute({ input: DataYearsQuery, user: "operator" }, ({ input, params, running }) =>
  running.storedData.years(params.ticker ?? "", input),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
