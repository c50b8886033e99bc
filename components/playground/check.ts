import type { Parameter } from "#lib/contract/operation";
import { isRequired, validate } from "#lib/contract/validate";
import type { Checked, Values } from "./model";
import { parametersOf, restOf } from "./operations";

function issueOf(name: string, { required, schema }: Parameter, text: string): { detail?: string; value?: unknown } {
  if (text.trim() === "") return required ? { detail: isRequired(name) } : {};
  const validated = validate(schema, text, { place: () => [name] });
  return "data" in validated ? { value: validated.data } : { detail: validated.refusals[0].detail };
}

/** What the service would say of these values, by its own schemas. */
export function checkValues(operationId: string, values: Values): Checked {
  const issues: Record<string, string> = {};
  const query: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parametersOf(operationId) ?? {})) {
    const { detail, value } = issueOf(name, parameter, values[name] ?? "");
    if (detail !== undefined) issues[name] = detail;
    else query[name] = value;
  }
  if (Object.keys(issues).length > 0) return { issues };
  const operation = restOf(operationId);
  const crossed = operation?.check?.(query as never);
  if (crossed !== undefined) return { issues: { [crossed.parameter]: crossed.detail } };
  return { issues, ...(operation && { units: operation.cost(query as never) }) };
}
