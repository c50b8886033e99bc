import { STATUS_CODES } from "node:http";
import { failureExample } from "#lib/contract/envelope";
import { ERROR_IDS, ERRORS, type ErrorId, errorDocsPath, httpStatus } from "#lib/contract/errors";
import { OPERATION_LIST } from "#lib/contract/operations";
import { HANDSHAKE_ERRORS } from "#lib/contract/stream";
import { HEADERS } from "../openapi-headers";
import { blocks, plain, type ReferencePage } from "./page";
import { operationPath } from "./paths";
import { jsonBlock, type RecordedAnswer, recordedError } from "./recorded";

/** Where an error can come from, as links. */
function answeredBy(id: ErrorId): string | undefined {
  const operations = OPERATION_LIST.filter(({ errors }) => errors.includes(id));
  const links = operations.map((operation) => `[${operation.summary}](${operationPath(operation)})`);
  if ((HANDSHAKE_ERRORS as readonly ErrorId[]).includes(id)) links.push("the handshake of a [stream](/docs/streaming)");
  return links.length === 0 ? undefined : `Answered by ${links.join(", ")}.`;
}

/** What the contract's two sentences have no room for. */
const DETAILS: Partial<Record<ErrorId, string>> = {
  rate_limited: `Two [counters](/docs/limits#how-requests-are-counted) hold at once, and the answer tells them apart:

- **The burst** is used up: too many at once. \`retry_after\` is short, mostly 1 second, and \`r\` in \`RateLimit\` is not down to 0. Send more evenly.
- **The window** is used up: \`r\` is less than the request costs. \`retry_after\` reaches to the end of the window, as \`t\` does. Send less, or ask for a larger plan.

An answer without \`RateLimit\` has another cause, which \`detail\` names: stream connections opened too often, or failed authentications from this address.`,
};

/** Status line and headers of an answer that says when to come back. */
function headBlock({ status, headers }: RecordedAnswer): string | undefined {
  if (headers["retry-after"] === undefined) return undefined;
  const lines = Object.keys(HEADERS).flatMap((name) => {
    const value = headers[name.toLowerCase()];
    return value === undefined ? [] : [`${name}: ${value}`];
  });
  return ["```http", `HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "```"].join("\n");
}

function example(id: ErrorId): string {
  const answer = recordedError(id);
  if (answer === undefined) return jsonBlock(failureExample(id));
  return blocks(`The sandbox's answer to \`${answer.method} ${answer.path}\`:`, headBlock(answer), jsonBlock(answer.body));
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
      DETAILS[id],
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
