import { Ack, ClientMessage, SERVER_MESSAGES, STREAM_METHODS, type StreamMethod } from "#lib/contract/stream";
import { ACK_EXAMPLES, CLIENT_EXAMPLES } from "../asyncapi-examples";
import type { PushedType } from "../asyncapi-examples-pushed";
import { CLOSES_INTRODUCTION, closesTable, limitsTable } from "../asyncapi-limits";
import { ofMethod } from "../asyncapi-messages";
import { ACK_WORDS, CLIENT_WORDS, PUSHED_WORDS } from "../asyncapi-words";
import { createFieldReader, fieldsTable } from "./fields";
import { blocks, type ReferencePage } from "./page";
import { jsonBlock, recordedMessage } from "./recorded";

/** The sandbox takes no ticks. */
const ackExample = (method: StreamMethod): unknown =>
  method === "ingest" ? ACK_EXAMPLES.ingest[0]?.payload : recordedMessage(`ack.${method}`);

function methodSection(method: StreamMethod): string {
  const { title, summary, description } = CLIENT_WORDS[method];
  const reader = createFieldReader();
  return blocks(
    `## ${title}`,
    `${summary} ${description}`,
    fieldsTable(reader.of(ofMethod(ClientMessage.options, method)), CLIENT_EXAMPLES[method][0]?.payload),
    ...CLIENT_EXAMPLES[method].flatMap((example) => [example.summary, jsonBlock(example.payload)]),
    `### ${ACK_WORDS[method].title}`,
    `${ACK_WORDS[method].summary} ${ACK_WORDS[method].description}`,
    fieldsTable(reader.of(ofMethod(Ack.options, method)), ackExample(method)),
    // The sandbox takes no ticks.
    ...(method === "ingest"
      ? ACK_EXAMPLES.ingest.flatMap((example) => [example.summary, jsonBlock(example.payload)])
      : ["A response from the sandbox:", jsonBlock(recordedMessage(`ack.${method}`))]),
  );
}

function pushedSection(type: PushedType): string {
  const { title, summary, description } = PUSHED_WORDS[type];
  return blocks(
    `## ${title}`,
    `\`type: "${type}"\`. ${summary} ${description}`,
    fieldsTable(createFieldReader().of(SERVER_MESSAGES[type]), recordedMessage(type)),
    "A message from the sandbox:",
    jsonBlock(recordedMessage(type)),
  );
}

/** Pages of client messages, server messages, close codes and limits. */
export function streamPages(): ReferencePage[] {
  return [
    {
      path: "streams/client-messages",
      title: "Client messages",
      description: "Messages that a client can send over a stream, and the answers.",
      body: blocks(...STREAM_METHODS.map(methodSection)),
    },
    {
      path: "streams/server-messages",
      title: "Server messages",
      description: "Messages that the server pushes over a stream.",
      body: blocks(
        "Ignore types and fields you do not know: v1 only ever adds to them.",
        ...(Object.keys(PUSHED_WORDS) as PushedType[]).map(pushedSection),
      ),
    },
    {
      path: "streams/close-codes",
      title: "Close codes",
      description: "Why a stream connection was closed, and whether to reconnect.",
      body: blocks(CLOSES_INTRODUCTION, closesTable()),
    },
    {
      path: "streams/stream-limits",
      title: "Stream limits",
      description: "Limits that apply to stream connections.",
      body: blocks("None of these limits becomes stricter within v1.", limitsTable()),
    },
  ];
}
