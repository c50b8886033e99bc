import { IngestState, ingestStateExample } from "#lib/contract/ingest-klines";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS, LIST_ERRORS } from "#lib/contract/operation-errors";
import { UnixSecondsParameter } from "#lib/contract/primitives";
import { tickers } from "#lib/contract/query";

export const ingestState = operation({
  id: "ingestState",
  method: "GET",
  path: "/api/v1/ingest/state",
  scope: "market:ingest",
  summary: "Ingest state",
  description:
    "Returns what is stored of each ticker and which minutes are missing, so that a feeder knows where to continue after an outage.",
  query: {
    tickers,
    before: {
      schema: UnixSecondsParameter,
      required: false,
      description: "Only missing minutes before this time, in Unix seconds: the `missing_before` of an earlier response.",
      example: "1767225600",
      advanced: true,
    },
  },
  data: IngestState,
  example: ingestStateExample,
  errors: [...LIST_ERRORS, ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: { tool: false, because: "It tells a feeder where to continue." },
});
