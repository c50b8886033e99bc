import { undoImport } from "#lib/market/import-undo";
import { historyAdmin } from "#lib/portal/changed-by";
import { importNumber } from "#lib/portal/import-number";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Undoes an import. */
export const POST = portalRoute({ user: "operator" }, async (call) => ({
  series: await undoImport(historyAdmin(call), importNumber(call.params.number)),
}));

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
