import type { Parameter } from "#lib/contract/operation";
import type { Issues, Values } from "./model";
import { checkOf, parametersOf } from "./operations";

/** What the service says of a required parameter that was not sent. */
const MISSING = "Required.";

function issueOf({ required, schema }: Parameter, text: string): { detail?: string; value?: unknown } {
  if (text.trim() === "") return required ? { detail: MISSING } : {};
  const parsed = schema.safeParse(text);
  return parsed.success ? { value: parsed.data } : { detail: parsed.error.issues[0]?.message ?? "Cannot be read." };
}

/** What the service would say of these values, by parameter, judged by its own schemas. */
export function issuesOf(operationId: string, values: Values): Issues {
  const issues: Record<string, string> = {};
  const query: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parametersOf(operationId) ?? {})) {
    const { detail, value } = issueOf(parameter, values[name] ?? "");
    if (detail !== undefined) issues[name] = detail;
    else query[name] = value;
  }
  const crossed = Object.keys(issues).length > 0 ? undefined : checkOf(operationId)?.(query as never);
  if (crossed !== undefined) issues[crossed.parameter] = crossed.detail;
  return issues;
}
