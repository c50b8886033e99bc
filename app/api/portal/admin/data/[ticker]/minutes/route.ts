import { CorrectionForm, DataMinutesQuery } from "#lib/contract/portal-corrections";
import { correctMinutes } from "#lib/market/minute-corrections";
import { historyAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The stored minutes around an instant. */
export const GET = portalRoute({ input: DataMinutesQuery, user: "operator" }, ({ input, params, running }) =>
  running.storedData.minutes(params.ticker ?? "", input),
);

/** Corrects a minute, or strikes minutes out. */
export const POST = portalRoute({ input: CorrectionForm, user: "operator" }, async (call) =>
  correctMinutes(historyAdmin(call), await call.running.storedData.listing(call.params.ticker ?? ""), call.input),
);

export const { DELETE, OPTIONS, PATCH, PUT } = otherMethods({ GET, POST });
