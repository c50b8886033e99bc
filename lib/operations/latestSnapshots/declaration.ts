import { z } from "zod";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS, LIST_ERRORS } from "#lib/contract/operation-errors";
import { format, missing, tickers } from "#lib/contract/query";
import { Snapshot, snapshotExample } from "#lib/contract/snapshot";

export const latestSnapshots = operation({
  id: "latestSnapshots",
  method: "GET",
  path: "/api/v1/market/snapshots/latest",
  scope: "market:read",
  summary: "Latest snapshots",
  description: "Returns the latest snapshot of each ticker, in the order you requested them.",
  query: { tickers, format },
  data: z.object({ items: z.array(Snapshot).describe("One snapshot per ticker, in the order you requested them."), missing }),
  example: { items: [snapshotExample] },
  errors: [...LIST_ERRORS, "market_data_not_ready", ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: { tool: true },
});
