import { DataLayersQuery } from "#lib/contract/portal-data";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** What each layer said of a year. */
export const GET = portalRoute({ input: DataLayersQuery, user: "operator" }, ({ input, params, running }) =>
  running.storedData.layers(params.ticker ?? "", input),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
