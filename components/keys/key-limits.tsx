import { eachLimitField, PLAN_LIMITS } from "#lib/contract/limits";
import type { PortalKey } from "#lib/contract/portal";
import { instantOf, localText } from "../portal/local-time";
import { numberOf, textOf } from "../portal/use-submit";
import { TextField } from "../ui/field";
import { InstantField } from "../ui/instant-field";

const LIMITS = Object.values(PLAN_LIMITS);

/** Names of the fields. */
export const LIMIT_FIELDS = [...LIMITS.map(({ field }) => field), "not_before"] as const;

type Limited = Pick<PortalKey, (typeof LIMIT_FIELDS)[number]>;

/** A key without any of them. */
export const UNLIMITED: Limited = {
  ...eachLimitField(() => null),
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
          {LIMITS.map(({ field, ownLabel }) => (
            <TextField
              key={field}
              type="number"
              min={1}
              step={1}
              label={ownLabel}
              name={field}
              defaultValue={start[field] ?? ""}
              placeholder="As in your plan"
              error={errorOf(field)}
            />
          ))}
        </div>
      </fieldset>
      <InstantField
        label="Valid from"
        name="not_before"
        start={start.not_before}
        hint="Leave empty to start now."
        error={errorOf("not_before")}
      />
    </>
  );
}

/** The limits as entered, with times in `zone`; an unchanged time stays, although the control leaves out its seconds. */
export function limitsOf(form: FormData, start: Limited, zone: string) {
  const limits = LIMITS.map(({ field }) => [field, numberOf(form, field)]);
  const text = textOf(form, "not_before");
  const unchanged = text === localText(start.not_before, zone);
  const not_before = unchanged ? start.not_before : text === "" ? null : instantOf(text, zone);
  return { ...Object.fromEntries(limits), not_before };
}
