import { Ack, ClientMessage, SERVER_MESSAGES, STREAM_METHODS, type StreamMethod } from "#lib/contract/stream";
import { CLIENT_EXAMPLES } from "../asyncapi-examples";
import type { PushedType } from "../asyncapi-examples-pushed";
import { closesTable, limitsTable } from "../asyncapi-limits";
import { ofMethod } from "../asyncapi-messages";
import { ACK_WORDS, CLIENT_WORDS, PUSHED_WORDS } from "../asyncapi-words";
import { createFieldReader, fieldsTable } from "./fields";
import { blocks, type ReferencePage } from "./page";
import { jsonBlock, recordedMessage } from "./recorded";

function methodSection(method: StreamMethod): string {
  const { title, summary, description } = CLIENT_WORDS[method];
  const reader = createFieldReader();
  return blocks(
    `## ${title}`,
    `${summary} ${description}`,
    fieldsTable(reader.of(ofMethod(ClientMessage.options, method))),
    ...CLIENT_EXAMPLES[method].flatMap((example) => [example.summary, jsonBlock(example.payload)]),
    `### ${ACK_WORDS[method].title}`,
    `${ACK_WORDS[method].summary} ${ACK_WORDS[method].description}`,
    fieldsTable(reader.of(ofMethod(Ack.options, method))),
    "An answer of the sandbox:",
    jsonBlock(recordedMessage(`ack.${method}`)),
  );
}

function pushedSection(type: PushedType): string {
  const { title, summary, description } = PUSHED_WORDS[type];
  return blocks(
    `## ${title}`,
    `\`type: "${type}"\`. ${summary} ${description}`,
    fieldsTable(createFieldReader().of(SERVER_MESSAGES[type])),
    "As the sandbox sent it:",
    jsonBlock(recordedMessage(type)),
  );
}

/** What either side of a stream says, how it ends, and its numbers. */
export function streamPages(): ReferencePage[] {
  return [
    {
      path: "streams/client-messages",
      title: "Client messages",
      description: "What a client may send over a stream, and the answers.",
      body: blocks(...STREAM_METHODS.map(methodSection)),
    },
    {
      path: "streams/server-messages",
      title: "Server messages",
      description: "What the service sends over a stream of its own accord.",
      body: blocks(
        "Ignore types and fields you do not know: within v1 they are only added.",
        ...(Object.keys(PUSHED_WORDS) as PushedType[]).map(pushedSection),
      ),
    },
    {
      path: "streams/close-codes",
      title: "Close codes",
      description: "Why a stream connection was closed, and whether to come back.",
      body: blocks(
        "`retry`: connect again, with jitter. `terminal`: not before its user acts. Try again after a code that is not listed.",
        closesTable(),
      ),
    },
    {
      path: "streams/stream-limits",
      title: "Stream limits",
      description: "Every number a stream connection is held to.",
      body: blocks("Within v1 none of them becomes stricter.", limitsTable()),
    },
  ];
}
