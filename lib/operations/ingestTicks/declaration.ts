import { IngestReceipt, ingestReceiptExample, TickLine } from "#lib/contract/ingest";
import { INGEST_MAX_BYTES, INGEST_MAX_LINES, INGEST_PUSH_MIN_TICKS } from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { GUARD_ERRORS } from "#lib/contract/operation-errors";

export const ingestTicks = operation({
  id: "ingestTicks",
  method: "POST",
  path: "/api/v1/ingest/ticks",
  scope: "market:ingest",
  summary: "Push ticks",
  description:
    "Sends ticks to the key's venue as NDJSON, one object per line. Each line is checked on its own, so one bad line does not affect the others. Accepted ticks are available as soon as the response arrives. Sending a batch again changes nothing.",
  query: {},
  body: {
    mediaType: "application/x-ndjson",
    description: "One tick per line: {ticker, time_msc, bid, ask, volume?}.",
    example: '{"ticker":"EURUSD","time_msc":1767225600123,"bid":1.08543,"ask":1.08551}\n',
    line: TickLine,
    maxLines: INGEST_MAX_LINES,
    maxBytes: INGEST_MAX_BYTES,
  },
  data: IngestReceipt,
  example: ingestReceiptExample,
  errors: ["invalid_parameter", "payload_too_large", ...GUARD_ERRORS],
  countedIn: "ticks",
  cost: () => INGEST_PUSH_MIN_TICKS,
  mcp: {
    tool: false,
    because: "Ticks come from a feeder in large batches, with an operator's key. A model must not write prices.",
  },
});
