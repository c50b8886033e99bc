import { readerAddress } from "#app/reader-address";
import { atomResponse } from "#server/pages/atom";
import { otherMethods } from "#server/pages/methods";
import { portalHandler } from "#server/pages/route";
import { statusFeed } from "#server/pages/status-feed";

/** Incidents and notes of operators, for feed readers. */
export const GET = portalHandler({ user: "none" }, async ({ running }) =>
  atomResponse(statusFeed(await readerAddress(), running.brand.name, await running.uptime())),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
