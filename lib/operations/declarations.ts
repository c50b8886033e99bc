import type { Operation } from "#lib/contract/operation";
import { conversion } from "./conversion/declaration";
import { createStreamTicket } from "./createStreamTicket/declaration";
import { file } from "./file/declaration";
import { files } from "./files/declaration";
import { ingestKlines } from "./ingestKlines/declaration";
import { ingestState } from "./ingestState/declaration";
import { ingestTicks } from "./ingestTicks/declaration";
import { instruments } from "./instruments/declaration";
import { key } from "./key/declaration";
import { klines } from "./klines/declaration";
import { latestQuotes } from "./latestQuotes/declaration";
import { latestSnapshots } from "./latestSnapshots/declaration";
import { marketHours } from "./marketHours/declaration";
import { marketStatus } from "./marketStatus/declaration";
import { marketSummary } from "./marketSummary/declaration";
import { ticks } from "./ticks/declaration";

/** Every operation of the REST API, in the order in which the docs have them. Its folder says everything else about it. */
export const operations = {
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

export type OperationId = keyof typeof operations;
export const OPERATION_LIST: readonly Operation[] = Object.values(operations) as unknown as Operation[];
