import type { z } from "zod";
import { Conversion } from "#lib/contract/conversion";
import { Failure, failureExample } from "#lib/contract/envelope";
import { TradingHours } from "#lib/contract/hours";
import { IngestReceipt, TickLine } from "#lib/contract/ingest";
import { IngestState, KlineLine, KlineReceipt } from "#lib/contract/ingest-klines";
import { Instrument } from "#lib/contract/instrument";
import { KeyInfo } from "#lib/contract/key";
import { Kline, KlineWindow } from "#lib/contract/kline";
import { OPERATION_LIST, type OperationId } from "#lib/contract/operations";
import { Quote } from "#lib/contract/quote";
import { Snapshot } from "#lib/contract/snapshot";
import { MarketStatus } from "#lib/contract/status";
import { StreamTicket } from "#lib/contract/stream-ticket";
import { StatusEvent, statusEventExample } from "#lib/contract/webhooks";
import { schemaPrinter } from "../json-schema";
import { createFieldReader, fieldsTable } from "./fields";
import { blocks, type ReferencePage } from "./page";
import { operationPath, type RecordName, recordPath } from "./paths";
import { jsonBlock, recordedAnswer, recordedError } from "./recorded";

const SCHEMAS: Readonly<Record<RecordName, z.ZodType>> = {
  Quote,
  Snapshot,
  Kline,
  KlineWindow,
  Instrument,
  Conversion,
  MarketStatus,
  TradingHours,
  StreamTicket,
  KeyInfo,
  TickLine,
  IngestReceipt,
  KlineLine,
  KlineReceipt,
  IngestState,
  StatusEvent,
  Failure,
};

/** `data` of the sandbox's response to an operation. */
function dataOf(id: OperationId): unknown {
  return (recordedAnswer(id).body as { data: unknown }).data;
}

function firstItem(id: OperationId): unknown {
  return (dataOf(id) as { items: readonly unknown[] }).items[0];
}

/** A line of the body that an operation takes. */
function lineOf(sent: OperationId): unknown {
  return JSON.parse(OPERATION_LIST.find(({ id }) => id === sent)?.body?.example ?? "{}");
}

function klineWindow(): unknown {
  const window = dataOf("klines") as { items: readonly unknown[] };
  return { ...window, items: window.items.slice(0, 1) };
}

const EXAMPLES: Readonly<Record<RecordName, () => unknown>> = {
  Quote: () => firstItem("latestQuotes"),
  Snapshot: () => firstItem("latestSnapshots"),
  Kline: () => firstItem("klines"),
  KlineWindow: klineWindow,
  Instrument: () => firstItem("instruments"),
  Conversion: () => firstItem("conversion"),
  MarketStatus: () => firstItem("marketStatus"),
  TradingHours: () => dataOf("marketHours"),
  StreamTicket: () => dataOf("createStreamTicket"),
  KeyInfo: () => dataOf("key"),
  TickLine: () => lineOf("ingestTicks"),
  IngestReceipt: () => dataOf("ingestTicks"),
  KlineLine: () => lineOf("ingestKlines"),
  KlineReceipt: () => dataOf("ingestKlines"),
  IngestState: () => dataOf("ingestState"),
  StatusEvent: () => statusEventExample,
  Failure: () => recordedError("unknown_ticker")?.body ?? failureExample("unknown_ticker"),
};

/** Links to the operations that return a record. */
function givenBy(name: RecordName): string | undefined {
  const holding = OPERATION_LIST.filter(({ data }) => {
    const printer = schemaPrinter("draft-2020-12");
    printer.of(data);
    return name in printer.named();
  });
  if (holding.length === 0) return undefined;
  return `Returned by ${holding.map((operation) => `[${operation.summary}](${operationPath(operation)})`).join(", ")}.`;
}

function recordPage(name: RecordName): ReferencePage {
  const schema = SCHEMAS[name];
  return {
    path: (recordPath(name) ?? "").replace("/docs/", ""),
    title: name,
    description: schema.meta()?.description ?? name,
    body: blocks(
      givenBy(name),
      "## Fields",
      fieldsTable(createFieldReader().of(schema), EXAMPLES[name]()),
      "## Example",
      jsonBlock(EXAMPLES[name]()),
    ),
  };
}

/** A page per record. */
export function recordPages(): ReferencePage[] {
  return (Object.keys(SCHEMAS) as RecordName[]).map(recordPage);
}
