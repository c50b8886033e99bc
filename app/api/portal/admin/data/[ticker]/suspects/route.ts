import { DataSuspectsQuery } from "#lib/contract/portal-data";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The suspicious places of a year of a ticker. */
export const GET = portalRoute({ input: DataSuspectsQuery, user: "operator" }, ({ input, params, running }) =>
  running.storedData.suspects(params.ticker ?? "", input),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
