import { z } from "zod";
import { Failure, failureExample } from "#lib/contract/envelope";
import type { Operation } from "#lib/contract/operation";
import {
  KeyEvent,
  keyEventExample,
  QuotaEvent,
  quotaEventExample,
  StatusEvent,
  statusEventExample,
  UsageEvent,
  usageEventExample,
} from "#lib/contract/webhooks";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { exampleBody, recordedError } from "./recorded";

/** A record with a page of its own. */
interface DocumentedRecord {
  readonly schema: z.ZodType;
  readonly example: unknown;
}

/** The schema of the items that an operation lists; undefined for one that lists none. */
function itemSchema({ data }: Operation): z.ZodType | undefined {
  const items = data instanceof z.ZodObject ? data.shape.items : undefined;
  return items instanceof z.ZodArray ? (items.element as z.ZodType) : undefined;
}

/** What an operation takes and answers, each with an example: a line of its body, an item of its list, its data. */
function recordsOf(operation: Operation): DocumentedRecord[] {
  const { body, data: schema, file } = operation;
  if (file !== undefined) return [];
  const data = exampleBody(operation).data as { readonly items?: readonly unknown[] };
  const items = data.items?.slice(0, 1);
  const item = itemSchema(operation);
  return [
    ...(body === undefined ? [] : [{ schema: body.line, example: JSON.parse(body.example) as unknown }]),
    ...(item === undefined ? [] : [{ schema: item, example: items?.[0] }]),
    { schema, example: items === undefined ? data : { ...data, items } },
  ];
}

const ALL: readonly DocumentedRecord[] = [
  ...OPERATION_LIST.flatMap(recordsOf),
  { schema: StatusEvent, example: statusEventExample },
  { schema: QuotaEvent, example: quotaEventExample },
  { schema: KeyEvent, example: keyEventExample },
  { schema: UsageEvent, example: usageEventExample },
  { schema: Failure, example: recordedError("unknown_ticker")?.body ?? failureExample("unknown_ticker") },
];

/** The records with a page of their own: those with a name, by it. The last operation that has one gives its example. */
export const RECORDS: ReadonlyMap<string, DocumentedRecord> = new Map(
  ALL.flatMap((record) => {
    const { id } = record.schema.meta() ?? {};
    return id === undefined ? [] : [[id, record] as const];
  }),
);
