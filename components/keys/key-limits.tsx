import type { PortalKey } from "#lib/contract/portal";
import { instantOf, localText } from "../portal/local-time";
import { textOf } from "../portal/use-submit";
import { TextField } from "../ui/field";

const LIMITS = [
  { name: "rest_per_minute", label: "Units per minute" },
  { name: "rest_burst", label: "Units at once" },
  { name: "stream_connections", label: "Stream connections" },
  { name: "subscriptions_per_connection", label: "Subscriptions per connection" },
] as const;

/** Names of the fields. */
export const LIMIT_FIELDS = [...LIMITS.map(({ name }) => name), "not_before"] as const;

type Limited = Pick<PortalKey, (typeof LIMIT_FIELDS)[number]>;

/** A key without any of them. */
export const UNLIMITED: Limited = {
  rest_per_minute: null,
  rest_burst: null,
  stream_connections: null,
  subscriptions_per_connection: null,
  not_before: null,
};

interface KeyLimitsProps {
  readonly start: Limited;
  readonly errorOf: (field: string) => string | undefined;
}

/** The limits of a key and when it becomes valid. */
export function KeyLimits({ start, errorOf }: KeyLimitsProps) {
  return (
    <>
      <fieldset>
        <legend className="font-medium text-sm">Limits</legend>
        <p className="mt-0.5 mb-3 text-ink-faint text-xs leading-5">The smaller of these and your plan's limits applies.</p>
        <div className="grid gap-4 sm:grid-cols-2">
          {LIMITS.map(({ name, label }) => (
            <TextField
              key={name}
              type="number"
              min={1}
              step={1}
              label={label}
              name={name}
              defaultValue={start[name] ?? ""}
              placeholder="As in your plan"
              error={errorOf(name)}
            />
          ))}
        </div>
      </fieldset>
      <TextField
        type="datetime-local"
        label="Valid from"
        name="not_before"
        defaultValue={localText(start.not_before)}
        hint="In your time zone. Leave empty to start now."
        error={errorOf("not_before")}
      />
    </>
  );
}

/** The limits as entered; an unchanged time stays, although the control leaves out its seconds. */
export function limitsOf(form: FormData, start: Limited) {
  const limits = LIMITS.map(({ name }) => {
    const text = textOf(form, name);
    return [name, text === "" ? null : Number(text)];
  });
  const text = textOf(form, "not_before");
  const unchanged = text === localText(start.not_before);
  const not_before = unchanged ? start.not_before : text === "" ? null : instantOf(text);
  return { ...Object.fromEntries(limits), not_before };
}
