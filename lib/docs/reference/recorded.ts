import type { ErrorId } from "#lib/contract/errors";
import type { Operation } from "#lib/contract/operation";
import recorded from "./recorded.json" with { type: "json" };

/** A call and the response of the sandbox. */
export interface RecordedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Number of list items an example shows. */
const ROWS_SHOWN_COUNT = 2;

/** The sandbox's response to an operation's example call; undefined where none is recorded yet. */
export function recordedAnswer({ id }: Pick<Operation, "id">): RecordedAnswer | undefined {
  return (recorded.operations as Readonly<Record<string, RecordedAnswer | undefined>>)[id];
}

/** The body of a successful response: the recorded one, or the example of the declaration. */
export function exampleBody(operation: Pick<Operation, "id" | "example">): { readonly data: unknown } {
  const own = { code: 0, message: "success", data: operation.example };
  return (recordedAnswer(operation)?.body ?? own) as { readonly data: unknown };
}

/** The sandbox's response to a call that causes this error; undefined if no single call does. */
export function recordedError(id: ErrorId): RecordedAnswer | undefined {
  return (recorded.errors as Partial<Record<ErrorId, RecordedAnswer>>)[id];
}

/** A message of a real connection by its type; an ack by its method, as `ack.subscribe`. */
export function recordedMessage(name: string): unknown {
  const message = (recorded.messages as Readonly<Record<string, unknown>>)[name];
  if (message === undefined) throw new Error(`No ${name} message is recorded; run \`npm run docs:examples\`.`);
  return message;
}

type Items = { data?: { items?: unknown[] } };

/** A fenced block of JSON. Long lists are shortened, with a note. */
export function jsonBlock(body: unknown): string {
  const items = (body as Items | null)?.data?.items;
  const cut = items !== undefined && items.length > ROWS_SHOWN_COUNT;
  const shown = cut ? { ...(body as Items), data: { ...(body as Items).data, items: items.slice(0, ROWS_SHOWN_COUNT) } } : body;
  const block = `\`\`\`json\n${JSON.stringify(shown, null, 2)}\n\`\`\``;
  return cut ? `${block}\n\nThe first ${ROWS_SHOWN_COUNT} of ${items.length} items.` : block;
}
