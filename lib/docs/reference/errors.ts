import { STATUS_CODES } from "node:http";
import { failureExample } from "#lib/contract/envelope";
import { ERROR_IDS, ERRORS, type ErrorId, errorDocsPath, httpStatus } from "#lib/contract/errors";
import { operationDocsPath } from "#lib/contract/operation";
import { HANDSHAKE_ERRORS } from "#lib/contract/stream";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { linkOperation } from "#lib/operations/link/declaration";
import { HEADERS } from "../openapi-headers";
import { blocks, type ReferencePage } from "./page";
import { jsonBlock, type RecordedAnswer, recordedError } from "./recorded";

/** Links to the operations that return an error. */
function answeredBy(id: ErrorId): string | undefined {
  const operations = OPERATION_LIST.filter(({ errors }) => errors.includes(id));
  const links = operations.map((operation) => `[${operation.summary}](${operationDocsPath(operation)})`);
  if ((linkOperation.errors as readonly ErrorId[]).includes(id)) links.push("a [link](/docs/spreadsheets)");
  if ((HANDSHAKE_ERRORS as readonly ErrorId[]).includes(id)) links.push("the [stream](/docs/streaming) handshake");
  return links.length === 0 ? undefined : `Returned by ${links.join(", ")}.`;
}

/** Details that do not fit into the cause and fix. */
const DETAILS: Partial<Record<ErrorId, string>> = {
  rate_limited: `Two [counters](/docs/limits#how-requests-are-counted) apply, and the response shows which one you reached:

- **Burst limit**: too many requests at once. \`retry_after\` is short, usually 1 second, and \`r\` in \`RateLimit\` is not 0. Spread your requests more evenly.
- **Minute limit**: \`r\` is less than the request costs. \`retry_after\` is the time to the end of the window, like \`t\`. Send fewer requests, or ask for a larger plan.

A response without \`RateLimit\` has a different cause, which \`detail\` names: too many stream handshakes, too many failed authentications from this IP address or its network, or too many calls without a key.`,
};

/** Status line and headers of a response with `Retry-After`. */
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
  return blocks(`The sandbox's response to \`${answer.method} ${answer.path}\`:`, headBlock(answer), jsonBlock(answer.body));
}

function errorPage(id: ErrorId): ReferencePage {
  const { code, title, cause, fix } = ERRORS[id];
  return {
    path: errorDocsPath(id).replace("/docs/", ""),
    title: id,
    description: `${title}. ${cause}`,
    body: blocks(
      // The lead of the page is the cause.
      `HTTP status ${httpStatus(id)}, code \`${code}\`, message \`${id}\`.`,
      "## Fix",
      fix,
      DETAILS[id],
      answeredBy(id),
      "## Example",
      example(id),
    ),
  };
}

/** A page per error; `docs_url` points to it. */
export function errorPages(): ReferencePage[] {
  return ERROR_IDS.map(errorPage);
}
