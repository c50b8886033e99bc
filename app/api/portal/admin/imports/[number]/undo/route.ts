import { undoImport } from "#lib/market/import-undo";
import { historyAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The number of an import in a path; 0, which no import has, for any other text. */
const numberOf = (text = "") => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);

/** Undoes an import. */
export const POST = portalRoute({ user: "operator" }, async (call) => ({
  series: await undoImport(historyAdmin(call), numberOf(call.params.number)),
}));

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
