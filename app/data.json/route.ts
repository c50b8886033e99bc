import { marketReader } from "#app/markets/reader";
import type { LiveRefusal } from "#lib/contract/markets";
import { CoverageQuery } from "#lib/contract/portal-data";
import { Fault } from "#lib/fault";
import { otherMethods } from "#server/pages/methods";
import { portalHandler } from "#server/pages/route";
import { shownCoverage } from "#server/pages/shown-markets";

/** A reader who reads too often may read again after this time. */
const RETRY_AFTER_S = 60;

/** The page shows the sandbox instead, and says why; a program must not take it for the live venue. */
function refusalOf(refused: LiveRefusal): Fault {
  if (refused === "signed_out") return new Fault("unauthorized", { detail: "Sign in to read the live venue." });
  if (refused === "rate_limited")
    return new Fault("rate_limited", { detail: "Your live key has reached its rate limit.", retry_after: RETRY_AFTER_S });
  return new Fault("live_access_required", {
    detail: "The live venue needs a verified email address, live access and an active live key with market:read.",
  });
}

/** The coverage of all instruments of a venue, as its page shows it. */
export const GET = portalHandler({ input: CoverageQuery, user: "none" }, async ({ input, running }) => {
  const { report, refused } = await shownCoverage(running, await marketReader(running, input.venue));
  if (refused !== undefined) throw refusalOf(refused);
  return Response.json(report, { headers: { "cache-control": "private, no-cache" } });
});

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
