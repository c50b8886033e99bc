import { z } from "zod";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS, LIST_ERRORS } from "#lib/contract/operation-errors";
import { InstantParameter } from "#lib/contract/primitives";
import { format, tickers } from "#lib/contract/query";
import { MarketStatus, marketStatusExample } from "#lib/contract/status";

export const marketStatus = operation({
  id: "marketStatus",
  method: "GET",
  path: "/api/v1/market/status",
  scope: "market:read",
  summary: "Market status",
  description: "Returns the market status of each ticker, now or at a given time, based on its trading calendar and its data.",
  query: {
    tickers,
    at: {
      schema: InstantParameter,
      required: false,
      description: "Time to return the status for, in ISO 8601 with a UTC offset (default: now).",
      example: "2026-12-25T12:00:00Z",
    },
    format,
  },
  data: z.object({ items: z.array(MarketStatus).describe("One status per ticker, in the order you requested them.") }),
  example: { items: [marketStatusExample] },
  errors: [...LIST_ERRORS, ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: { tool: true },
});
