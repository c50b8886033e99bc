import { z } from "zod";
import { LINK_ID, LINKED_IDS } from "#lib/contract/linked-ids";
import { type Operation, operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { OPERATION_LIST, operations } from "../declarations";

/** Longest text that is read as a token; a real one is shorter. */
export const LINK_TOKEN_MAX_CHARACTERS = 200;

const { latestQuotes } = operations;

/**
 * Answers the call that a link stands for. No key calls it, so it is not one of the operations: clients, samples and tools of
 * agents do not have it.
 */
export const linkOperation = operation({
  id: LINK_ID,
  method: "GET",
  path: "/api/v1/link",
  scope: "market:read",
  summary: "Link",
  description:
    "Answers one call whose parameters are fixed, for programs that cannot send a key, such as spreadsheets. A link is created in the dashboard and bound to one of your keys, which needs the scope `market:read`. The response is that of the operation, as JSON, CSV or Parquet as the link says. A parameter of the operation cannot be changed; other ones are ignored. HEAD and OPTIONS cost nothing.",
  query: {
    token: {
      schema: z.string().min(1).max(LINK_TOKEN_MAX_CHARACTERS),
      required: true,
      description: "The token of the link, a part of its URL. It is good for this call alone. Treat the URL like a password.",
      example: "sw_link_eyJsaW5rIjoiMDE5YWIxIn0.Zm9yIGV4YW1wbGU",
    },
  },
  data: z.union(LINKED_IDS.filter((id) => id !== "file").map((id) => operations[id].data)),
  example: latestQuotes.example,
  errors: [
    "invalid_link",
    "invalid_parameter",
    "missing_parameter",
    "unsupported_timeframe",
    "unknown_ticker",
    "unknown_file",
    "range_not_satisfiable",
    "not_in_plan",
    "market_data_not_ready",
    ...COUNTED_ERRORS.filter((id) => id !== "unauthorized"),
  ],
  cost: () => 1,
  mcp: { tool: false, because: "It is for programs that cannot send a key. An agent has one." },
});

/** Every call of the REST API: the operations, and links. */
export const REST_CALLS: readonly Operation[] = [...OPERATION_LIST, linkOperation as unknown as Operation];
