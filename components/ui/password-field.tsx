"use client";

import { type ComponentProps, useState } from "react";
import { CONTROL, Field } from "./field";

type PasswordFieldProps = Omit<ComponentProps<typeof Field>, "children"> & Omit<ComponentProps<"input">, "id" | "type">;

/** A password with its label, and a button that shows what is typed. */
export function PasswordField({ label, hint, error, ...rest }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div className="relative">
          <input
            autoCapitalize="none"
            spellCheck={false}
            {...rest}
            {...control}
            type={shown ? "text" : "password"}
            className={`${CONTROL} pr-16`}
          />
          <button
            type="button"
            onClick={() => setShown(!shown)}
            className="absolute inset-y-0 right-0 rounded-md px-3 text-ink-soft text-xs hover:text-ink"
          >
            {shown ? "Hide" : "Show"}
            <span className="sr-only"> password</span>
          </button>
        </div>
      )}
    </Field>
  );
}
