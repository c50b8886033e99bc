import { redoImport } from "#lib/market/import-undo";
import { historyAdmin } from "#lib/portal/changed-by";
import { importNumber } from "#lib/portal/import-number";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Puts an import back that was undone. */
export const POST = portalRoute({ user: "operator" }, async (call) => ({
  series: await redoImport(historyAdmin(call), importNumber(call.params.number)),
}));

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
