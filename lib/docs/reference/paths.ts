import type { Operation } from "#lib/contract/operation";

/** Records that have a page, by the name the contract gives their schema. */
export const RECORD_NAMES = [
  "Quote",
  "Snapshot",
  "Kline",
  "KlineWindow",
  "Instrument",
  "MarketStatus",
  "StreamTicket",
  "TickLine",
  "IngestReceipt",
  "Failure",
] as const;
export type RecordName = (typeof RECORD_NAMES)[number];

const kebab = (name: string) => name.replace(/(?!^)([A-Z])/g, "-$1").toLowerCase();

/** Where the page of an operation is. */
export function operationPath({ id }: Pick<Operation, "id">): string {
  return `/docs/operations/${kebab(id)}`;
}

/** Where the page of a record is; undefined for a schema without one. */
export function recordPath(name: string): string | undefined {
  return (RECORD_NAMES as readonly string[]).includes(name) ? `/docs/records/${kebab(name)}` : undefined;
}
