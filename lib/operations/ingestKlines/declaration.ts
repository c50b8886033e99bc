import { KlineLine, KlineReceipt, klineReceiptExample, ReplaceParameter } from "#lib/contract/ingest-klines";
import {
  INGEST_KLINES_MAX_AGE_S,
  INGEST_KLINES_MAX_BYTES,
  INGEST_KLINES_MAX_ROWS,
  KLINES_ROWS_PER_COST_UNIT,
} from "#lib/contract/limits";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { DAY_S } from "#lib/units";

export const ingestKlines = operation({
  id: "ingestKlines",
  method: "POST",
  path: "/api/v1/ingest/klines",
  scope: "market:ingest",
  summary: "Push klines",
  description: `Sends closed M1 klines of bid prices as NDJSON, one object per line, to fill minutes that your feeder missed. Longer klines are computed from them. A batch has at most ${INGEST_KLINES_MAX_ROWS} klines, none older than ${INGEST_KLINES_MAX_AGE_S / DAY_S} days: import older ones. Each line is checked on its own. Minutes of which this service heard every tick are never replaced. The klines of a ticker are stored together or not at all, and operators can undo them like an import. Sending a batch again changes nothing.`,
  query: {
    replace: {
      schema: ReplaceParameter,
      required: false,
      description:
        "Which minutes to store: `gaps` (default) those without a kline, and those that this service saw only in part; `all` also those that an import or an earlier batch stored.",
      example: "gaps",
    },
  },
  body: {
    mediaType: "application/x-ndjson",
    description: "One kline per line: {ticker, time, open, high, low, close, tick_volume, real_volume?, spread?}.",
    example:
      '{"ticker":"EURUSD","time":1767225600,"open":1.08543,"high":1.08551,"low":1.0854,"close":1.08548,"tick_volume":42}\n',
    line: KlineLine,
    maxLines: INGEST_KLINES_MAX_ROWS,
    maxBytes: INGEST_KLINES_MAX_BYTES,
  },
  data: KlineReceipt,
  example: klineReceiptExample,
  errors: ["invalid_parameter", "payload_too_large", ...COUNTED_ERRORS],
  cost: () => Math.ceil(INGEST_KLINES_MAX_ROWS / KLINES_ROWS_PER_COST_UNIT),
  mcp: { tool: false, because: "Klines come from a feeder, as ticks do. A model must not write prices." },
});
