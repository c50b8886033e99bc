"use client";

import { useState } from "react";
import { DAY_MS } from "#lib/units";
import { instantOf } from "../portal/local-time";
import { Instant, useTimeZone } from "../portal/time";
import { textOf } from "../portal/use-submit";
import { CONTROL, Field } from "../ui/field";
import { Select } from "../ui/select";

const EXPIRIES = [
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
  { value: "date", label: "On a date" },
] as const;
const NEVER = { value: "never", label: "Never" } as const;
const KEEP = { value: "keep", label: "No change" } as const;
type Expiry = (typeof EXPIRIES)[number]["value"] | typeof NEVER.value | typeof KEEP.value;

interface ExpiryFieldProps {
  /** When a key that is edited expires now, null for never; absent for a new key. */
  readonly current?: string | null;
  readonly error: string | undefined;
  /** True for what has to end. */
  readonly isRequired?: boolean;
}

/** When a key or a link expires: a year from now for a new one, no change for a key that is edited. */
export function ExpiryField({ current, error, isRequired = false }: ExpiryFieldProps) {
  const changed = current !== undefined;
  const zone = useTimeZone();
  const [expiry, setExpiry] = useState<Expiry>(changed ? "keep" : "365");
  const choices = isRequired ? EXPIRIES : [...EXPIRIES, NEVER];
  const kept =
    current === undefined || current === null ? (
      "Never expires."
    ) : (
      <>
        Expires on <Instant at={current} to="day" />.
      </>
    );
  return (
    <Field
      label="Expires"
      hint={expiry === "keep" ? kept : expiry === "date" ? `At the end of the day in ${zone}.` : undefined}
      error={error}
    >
      {(control) => (
        <div className="grid gap-2 sm:auto-cols-fr sm:grid-flow-col">
          <Select
            {...control}
            aria-invalid={expiry === "date" ? undefined : control["aria-invalid"]}
            name="expiry"
            options={changed ? [KEEP, ...choices] : choices}
            value={expiry}
            onChange={setExpiry}
          />
          {expiry === "date" ? (
            <input {...control} id={undefined} type="date" name="expires_at" aria-label="Last day" required className={CONTROL} />
          ) : null}
        </div>
      )}
    </Field>
  );
}

/** The instant chosen, in ISO 8601: null for never, undefined for no change. A date means its end in `zone`. */
export function expiryOf(form: FormData, zone: string): string | null | undefined {
  const expiry = textOf(form, "expiry") as Expiry;
  if (expiry === "keep") return undefined;
  if (expiry === "never") return null;
  if (expiry !== "date") return new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
  const date = textOf(form, "expires_at");
  return date === "" ? "" : instantOf(`${date}T23:59:59`, zone);
}
