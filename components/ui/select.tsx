import type { ComponentProps } from "react";
import { CONTROL } from "./field";

/** One option of a select. */
interface Option<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

type SelectProps<Value extends string> = Omit<ComponentProps<"select">, "value" | "onChange" | "children"> & {
  readonly options: readonly Option<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
};

/** A native select, because every phone and reader already knows how to open it. */
export function Select<Value extends string>({ options, value, onChange, className = "", ...rest }: SelectProps<Value>) {
  return (
    <select
      {...rest}
      value={value}
      onChange={(event) => onChange(event.target.value as Value)}
      className={`${CONTROL} min-h-9 pr-8 ${className}`}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

type ChoiceProps = Omit<ComponentProps<"input">, "type" | "className"> & {
  readonly label: string;
  readonly hint?: string;
};

function Choice({ type, label, hint, ...rest }: ChoiceProps & { readonly type: "checkbox" | "radio" }) {
  return (
    <label className="flex cursor-pointer items-start gap-3 rounded-md border border-edge px-3 py-2 text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2 has-checked:border-accent has-disabled:cursor-not-allowed has-checked:bg-accent/5 has-disabled:opacity-60">
      <input {...rest} type={type} className="mt-1 size-4 shrink-0 accent-(--accent-ground) focus-visible:outline-none" />
      <span className="min-w-0">
        <span className="block font-medium leading-6">{label}</span>
        {hint === undefined ? null : <span className="block text-ink-faint text-xs leading-5">{hint}</span>}
      </span>
    </label>
  );
}

/** A checkbox. */
export function Checkbox(props: ChoiceProps) {
  return <Choice {...props} type="checkbox" />;
}

/** A radio button; those that share a `name` form a group. */
export function Radio(props: ChoiceProps) {
  return <Choice {...props} type="radio" />;
}
