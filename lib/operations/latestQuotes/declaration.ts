import { z } from "zod";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS, LIST_ERRORS } from "#lib/contract/operation-errors";
import { format, missing, tickers } from "#lib/contract/query";
import { Quote, quoteExample } from "#lib/contract/quote";

export const latestQuotes = operation({
  id: "latestQuotes",
  method: "GET",
  path: "/api/v1/market/quotes/latest",
  scope: "market:read",
  summary: "Latest quotes",
  description: "Returns the latest quote of each ticker, in the order you requested them.",
  query: { tickers, format },
  data: z.object({ items: z.array(Quote).describe("One quote per ticker, in the order you requested them."), missing }),
  example: { items: [quoteExample] },
  errors: [...LIST_ERRORS, "market_data_not_ready", ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: { tool: true },
});
