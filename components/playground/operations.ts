import { z } from "zod";
import { LINKED_IDS } from "#lib/contract/linked-ids";
import { type Operation, operationDocsPath, type Parameter } from "#lib/contract/operation";
import {
  InstantParameter,
  LimitParameter,
  PastSecondsParameter,
  STREAMS,
  type StreamName,
  TickerListParameter,
  TickerParameter,
  TickLimitParameter,
  UnixMillisecondsParameter,
  UnixSecondsParameter,
} from "#lib/contract/primitives";
import { SOCKET_IO_NAMESPACE, STREAM_PATH } from "#lib/contract/stream";
import { AmountParameter } from "#lib/operations/conversion/declaration";
import { OPERATION_LIST, type OperationId, operations } from "#lib/operations/declarations";
import type { FieldKind, PlayField, PlayOperation, RestOperation } from "./model";

const KINDS: ReadonlyMap<unknown, FieldKind> = new Map<unknown, FieldKind>([
  [TickerParameter, "ticker"],
  [TickerListParameter, "tickers"],
  [UnixSecondsParameter, "seconds"],
  [PastSecondsParameter, "seconds"],
  [InstantParameter, "instant"],
  [UnixMillisecondsParameter, "instant"],
  [LimitParameter, "number"],
  [TickLimitParameter, "number"],
  [AmountParameter, "number"],
]);

const STREAM_WORDS: Readonly<Record<StreamName, readonly [title: string, description: string]>> = {
  quote: ["Quote stream", "Every change of bid or ask, as it happens."],
  kline: ["Kline stream", "The open kline as it updates, and each kline when it closes."],
  snapshot: ["Snapshot stream", "The quote with its trading-day statistics, as it changes."],
};

/** Operations of feeders are not offered: a reader has no key for them. */
const isRead = ({ method, scope }: Operation) => method === "GET" && scope !== "market:ingest";

function shownParameters({ query }: Operation): Readonly<Record<string, Parameter>> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => name !== "format"));
}

/** The parameters of an operation without `format`, because the page shows JSON; those of a stream form its subscribe message. */
export function parametersOf(id: string): Readonly<Record<string, Parameter>> | undefined {
  const rest = restOf(id);
  if (rest !== undefined) return isRead(rest) ? shownParameters(rest) : undefined;
  const stream = STREAMS.find((name) => streamId(name) === id);
  if (stream === undefined) return undefined;
  const { tickers } = operations.latestQuotes.query;
  return stream === "kline" ? { tickers, timeframe: { ...operations.klines.query.timeframe, example: "M1" } } : { tickers };
}

/** A REST operation as the contract declares it. */
export const restOf = (id: string): Operation | undefined => OPERATION_LIST.find((operation) => operation.id === id);

const STREAM_DOCS = "/docs/streaming";
const streamId = (stream: StreamName) => `${stream}Stream`;

/** The values that a parameter may have, where it takes one of a few words. */
function choicesOf(schema: z.ZodType): readonly string[] | undefined {
  return schema instanceof z.ZodPipe && schema.out instanceof z.ZodEnum ? (schema.out.options as string[]) : undefined;
}

function fieldsOf(id: string): PlayField[] {
  return Object.entries(parametersOf(id) ?? {}).map(([name, { schema, required, description, example }]) => {
    const choices = choicesOf(schema);
    const kind = KINDS.get(schema) ?? (choices === undefined ? "text" : "choice");
    return { name, kind, required, description, example, ...(choices && { choices }) };
  });
}

function restOperation({ id, method, path, summary, description, scope, example }: Operation): RestOperation {
  const answer = { code: 0, message: "success", data: example };
  return {
    id,
    method,
    path,
    title: summary,
    description,
    scope,
    docs: operationDocsPath({ id }),
    fields: fieldsOf(id),
    example: answer,
  };
}

/** The operations that a link can stand for, with their forms. */
export function linkOperations(): [RestOperation, ...RestOperation[]] {
  const [first, ...others] = LINKED_IDS;
  const of = (id: OperationId) => restOperation(operations[id] as unknown as Operation);
  return [of(first), ...others.map(of)];
}

/** Everything the playground offers: each REST operation that reads, and each stream, with its form. */
export function playOperations(): PlayOperation[] {
  // A file is not shown, but its list is.
  const rest = OPERATION_LIST.filter((operation) => isRead(operation) && operation.file === undefined).map(restOperation);
  const streams = STREAMS.map((stream): PlayOperation => {
    const [title, description] = STREAM_WORDS[stream];
    const id = streamId(stream);
    const place = { path: STREAM_PATH, namespace: SOCKET_IO_NAMESPACE, ticketPath: operations.createStreamTicket.path };
    return {
      id,
      method: "STREAM",
      stream,
      title,
      description,
      scope: "market:stream",
      docs: STREAM_DOCS,
      fields: fieldsOf(id),
      ...place,
    };
  });
  return [...rest, ...streams];
}
