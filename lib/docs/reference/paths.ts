import type { Operation } from "#lib/contract/operation";
import { OPERATION_LIST } from "#lib/contract/operations";

/** Records with their own page, by the name of their schema in the contract. */
export const RECORD_NAMES = [
  "Quote",
  "Snapshot",
  "Kline",
  "KlineWindow",
  "Instrument",
  "Conversion",
  "MarketStatus",
  "TradingHours",
  "StreamTicket",
  "KeyInfo",
  "TickLine",
  "IngestReceipt",
  "KlineLine",
  "KlineReceipt",
  "IngestState",
  "StatusEvent",
  "Failure",
] as const;
export type RecordName = (typeof RECORD_NAMES)[number];

const kebab = (name: string) => name.replace(/(?!^)([A-Z])/g, "-$1").toLowerCase();

/** Path of the page of an operation. */
export function operationPath({ id }: Pick<Operation, "id">): string {
  return `/docs/operations/${kebab(id)}`;
}

/** The operation whose page has this path; undefined for any other page. */
export function operationAt(path: string): Operation | undefined {
  return OPERATION_LIST.find((operation) => operationPath(operation) === path);
}

/** Path of the page of a record; undefined for a schema without one. */
export function recordPath(name: string): string | undefined {
  return (RECORD_NAMES as readonly string[]).includes(name) ? `/docs/records/${kebab(name)}` : undefined;
}
