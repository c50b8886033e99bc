import { DataPastQuery } from "#lib/contract/portal-data";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** A year as it showed at an instant. */
export const GET = portalRoute({ input: DataPastQuery, user: "operator" }, ({ input, params, running }) =>
  running.storedData.past(params.ticker ?? "", input),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
