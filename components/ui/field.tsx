import { type ComponentProps, type ReactNode, useId } from "react";

/** The look of everything that is typed or chosen. */
export const CONTROL =
  "w-full rounded-md border border-edge bg-surface px-3 py-1.5 text-ink text-sm leading-6 placeholder:text-ink-faint aria-invalid:border-danger disabled:opacity-60 pointer-coarse:text-base";

/** What a control inside a field has to carry. */
interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with the value, in words; takes the place of the hint, which nearly always says the same. */
  readonly error?: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}

/** Label, control, hint and error, tied together for those who hear the page. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
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

/** A line of text with its label. */
export function TextField({ label, hint, error, className = "", ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <input {...rest} {...control} className={`${CONTROL} ${className}`} />}
    </Field>
  );
}

/** Several lines of text with their label. */
export function TextArea({
  label,
  hint,
  error,
  className = "",
  ...rest
}: Omit<ComponentProps<"textarea">, "id"> & Omit<FieldProps, "children">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <textarea {...rest} {...control} className={`${CONTROL} ${className}`} />}
    </Field>
  );
}
