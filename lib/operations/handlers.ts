import type { OperationHandler } from "#lib/http/route";
import { handler as conversion } from "./conversion/answer";
import { handler as createStreamTicket } from "./createStreamTicket/answer";
import type { OperationId } from "./declarations";
import { handler as file } from "./file/answer";
import { handler as files } from "./files/answer";
import { handler as ingestKlines } from "./ingestKlines/answer";
import { handler as ingestState } from "./ingestState/answer";
import { handler as ingestTicks } from "./ingestTicks/answer";
import { handler as instruments } from "./instruments/answer";
import { handler as key } from "./key/answer";
import { handler as klines } from "./klines/answer";
import { handler as latestQuotes } from "./latestQuotes/answer";
import { handler as latestSnapshots } from "./latestSnapshots/answer";
import { handler as marketHours } from "./marketHours/answer";
import { handler as marketStatus } from "./marketStatus/answer";
import { handler as marketSummary } from "./marketSummary/answer";
import { handler as ticks } from "./ticks/answer";

/** The handler of each operation; a missing one fails to compile. */
export const handlers: Readonly<Record<OperationId, OperationHandler>> = {
  klines,
  marketSummary,
  ticks,
  files,
  file,
  instruments,
  latestQuotes,
  latestSnapshots,
  conversion,
  marketStatus,
  marketHours,
  createStreamTicket,
  ingestTicks,
  ingestKlines,
  ingestState,
  key,
};
