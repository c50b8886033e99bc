import type { Parameter } from "#lib/contract/operation";
import { isRequired, validate } from "#lib/contract/validate";
import type { Issues, Values } from "./model";
import { checkOf, parametersOf } from "./operations";

function issueOf(name: string, { required, schema }: Parameter, text: string): { detail?: string; value?: unknown } {
  if (text.trim() === "") return required ? { detail: isRequired(name) } : {};
  const validated = validate(schema, text, { place: () => [name] });
  return "data" in validated ? { value: validated.data } : { detail: validated.refusals[0].detail };
}

/** The service's errors for these values, by parameter, checked with its own schemas. */
export function issuesOf(operationId: string, values: Values): Issues {
  const issues: Record<string, string> = {};
  const query: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parametersOf(operationId) ?? {})) {
    const { detail, value } = issueOf(name, parameter, values[name] ?? "");
    if (detail !== undefined) issues[name] = detail;
    else query[name] = value;
  }
  const crossed = Object.keys(issues).length > 0 ? undefined : checkOf(operationId)?.(query as never);
  if (crossed !== undefined) issues[crossed.parameter] = crossed.detail;
  return issues;
}
