import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The range of a ticker's stored history, and its imports. */
export const GET = portalRoute({ user: "operator" }, ({ params, running }) => running.storedData.ticker(params.ticker ?? ""));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
