import { failureExample } from "#lib/contract/envelope";
import { ERROR_IDS, ERRORS, type ErrorId, errorDocsPath, httpStatus } from "#lib/contract/errors";
import { OPERATION_LIST } from "#lib/contract/operations";
import { HANDSHAKE_ERRORS } from "#lib/contract/stream";
import { blocks, plain, type ReferencePage } from "./page";
import { operationPath } from "./paths";
import { jsonBlock, recordedError } from "./recorded";

/** Where an error can come from, as links. */
function answeredBy(id: ErrorId): string | undefined {
  const operations = OPERATION_LIST.filter(({ errors }) => errors.includes(id));
  const links = operations.map((operation) => `[${operation.summary}](${operationPath(operation)})`);
  if ((HANDSHAKE_ERRORS as readonly ErrorId[]).includes(id)) links.push("the handshake of a [stream](/docs/streaming)");
  return links.length === 0 ? undefined : `Answered by ${links.join(", ")}.`;
}

function example(id: ErrorId): string {
  const answer = recordedError(id);
  if (answer === undefined) return jsonBlock(failureExample(id));
  return blocks(`The sandbox's answer to \`${answer.method} ${answer.path}\`:`, jsonBlock(answer.body));
}

function errorPage(id: ErrorId): ReferencePage {
  const { code, title, cause, fix } = ERRORS[id];
  return {
    path: errorDocsPath(id).replace("/docs/", ""),
    title: id,
    description: plain(`${title}. ${cause}`),
    body: blocks(
      `**${title}.** HTTP status ${httpStatus(id)}, code \`${code}\`, message \`${id}\`.`,
      "## Cause",
      cause,
      "## Fix",
      fix,
      answeredBy(id),
      "## Example",
      example(id),
    ),
  };
}

/** A page for each error: what `docs_url` leads to. */
export function errorPages(): ReferencePage[] {
  return ERROR_IDS.map(errorPage);
}
