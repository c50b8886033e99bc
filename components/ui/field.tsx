import { type ComponentProps, type ReactNode, useId } from "react";
import { Prose } from "./prose";

/** The style of all inputs. */
export const CONTROL =
  "w-full rounded-md border border-edge bg-surface px-3 py-1.5 text-ink text-sm leading-6 placeholder:text-ink-faint aria-invalid:border-danger disabled:opacity-60 pointer-coarse:min-h-11 pointer-coarse:text-base";

/** The props of a control inside a field. */
interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

export interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** The error of the value; replaces the hint, which nearly always says the same. */
  readonly error?: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}

/** Label, control, hint and error, linked for screen readers. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = error === undefined ? hint : <Prose text={error} />;
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block font-medium text-sm">
        {label}
      </label>
      {children({
        id,
        "aria-describedby": note === undefined ? undefined : `${id}-note`,
        "aria-invalid": error === undefined ? undefined : true,
      })}
      {note === undefined ? null : (
        <p
          id={`${id}-note`}
          role={error === undefined ? undefined : "alert"}
          className={`mt-1.5 text-xs leading-5 [overflow-wrap:anywhere] ${error === undefined ? "text-ink-faint" : "text-danger"}`}
        >
          {note}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<ComponentProps<"input">, "id"> & Omit<FieldProps, "children">;

/** A text input with its label. */
export function TextField({ label, hint, error, className = "", ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <input {...rest} {...control} className={`${CONTROL} ${className}`} />}
    </Field>
  );
}

/** A text area with its label. */
export function TextArea({
  label,
  hint,
  error,
  className = "",
  ...rest
}: Omit<ComponentProps<"textarea">, "id"> & Omit<FieldProps, "children">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <textarea {...rest} {...control} className={`${CONTROL} block ${className}`} />}
    </Field>
  );
}
