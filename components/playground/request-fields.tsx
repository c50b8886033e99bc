"use client";

import type { Instrument } from "#lib/contract/instrument";
import { plainText } from "../portal/plain-text";
import { CONTROL } from "../ui/field";
import { Select } from "../ui/select";
import type { Issues, PlayOperation, Values } from "./model";
import { ParameterField } from "./parameter-field";
import { TickerField } from "./ticker-field";
import { type FieldControlProps, TimeField } from "./time-field";

const NOT_CHOSEN = "";

function ChoiceField({ field, value, issue, onChange }: FieldControlProps) {
  const choices = field.choices ?? [];
  // A link may hold anything: an invalid value stays visible, with the reason it is rejected.
  const strange = value !== NOT_CHOSEN && !choices.includes(value) ? [{ value, label: value }] : [];
  const none = field.required && value !== NOT_CHOSEN ? [] : [{ value: NOT_CHOSEN, label: "–" }];
  const options = [...none, ...strange, ...choices.map((choice) => ({ value: choice, label: choice }))];
  return (
    <ParameterField field={field} issue={issue}>
      {(control) => <Select {...control} name={field.name} value={value} onChange={onChange} options={options} />}
    </ParameterField>
  );
}

function TypedField({ field, value, issue, onChange }: FieldControlProps) {
  return (
    <ParameterField field={field} issue={issue}>
      {(control) => (
        <input
          {...control}
          name={field.name}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          inputMode={field.kind === "number" ? "decimal" : "text"}
          autoComplete="off"
          spellCheck={false}
          className={`${CONTROL} font-mono`}
        />
      )}
    </ParameterField>
  );
}

interface RequestFieldsProps {
  readonly operation: Pick<PlayOperation, "id" | "fields">;
  readonly values: Values;
  readonly issues: Issues;
  readonly instruments: readonly Instrument[] | undefined;
  readonly onInstrumentsWanted: () => void;
  readonly onChange: (name: string, value: string) => void;
}

/** The inputs of an operation, one per parameter. */
export function RequestFields({ operation, values, issues, instruments, onInstrumentsWanted, onChange }: RequestFieldsProps) {
  return operation.fields.map((field) => {
    const issue = issues[field.name];
    const control = {
      field,
      value: values[field.name] ?? "",
      issue: issue === undefined ? undefined : plainText(issue),
      onChange: (value: string) => onChange(field.name, value),
    };
    const key = `${operation.id} ${field.name}`;
    if (field.kind === "ticker" || field.kind === "tickers")
      return <TickerField key={key} {...control} instruments={instruments} onWanted={onInstrumentsWanted} />;
    if (field.kind === "seconds" || field.kind === "instant") return <TimeField key={key} {...control} />;
    if (field.kind === "choice") return <ChoiceField key={key} {...control} />;
    return <TypedField key={key} {...control} />;
  });
}
