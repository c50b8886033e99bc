import { Field, type FieldProps } from "../ui/field";
import { Prose } from "../ui/prose";
import type { PlayField } from "./model";

interface ParameterFieldProps extends Pick<FieldProps, "children"> {
  readonly field: Pick<PlayField, "name" | "required" | "description">;
  readonly issue: string | undefined;
  /** A sentence after the description. */
  readonly note?: string | undefined;
}

/** The input of a query parameter, with its name, whether it is optional, its description, and what is wrong with its value. */
export function ParameterField({ field: { name, required, description }, issue, note, children }: ParameterFieldProps) {
  const label = (
    <span className="flex items-baseline justify-between gap-2">
      <code className="font-mono text-[13px]">{name}</code>
      {required ? null : <span className="font-normal text-ink-faint text-xs">optional</span>}
    </span>
  );
  return (
    <Field label={label} hint={<Prose text={note === undefined ? description : `${description} ${note}`} />} error={issue}>
      {children}
    </Field>
  );
}
