"use client";

import { type ReactNode, useId } from "react";

interface Choice<Value> {
  readonly value: Value;
  readonly label: ReactNode;
  /** Its name, where the label is a picture. */
  readonly name?: string;
}

interface SegmentedProps<Value> {
  /** What is chosen, for screen readers. */
  readonly legend: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** Texts in a row, or pictures in a pill. */
  readonly shape?: keyof typeof SHAPES;
}

const SHAPES = {
  texts: { group: "rounded-md", choice: "min-h-8 rounded px-2.5 text-xs pointer-coarse:min-h-10" },
  pictures: { group: "rounded-full", choice: "size-7 justify-center rounded-full pointer-coarse:size-10" },
} as const;

/** One of a few values, all in view: radio buttons in a row. */
export function Segmented<Value extends string | number>(props: SegmentedProps<Value>) {
  const { legend, choices, value: chosen, onChange, shape = "texts" } = props;
  const name = useId();
  return (
    <fieldset className={`flex border border-line p-0.5 ${SHAPES[shape].group}`}>
      <legend className="sr-only">{legend}</legend>
      {choices.map(({ value, label, name: title }) => (
        <label
          key={value}
          title={title}
          className={`relative flex cursor-pointer items-center text-ink-soft hover:text-ink has-checked:bg-line has-focus-visible:outline-2 has-checked:text-ink has-focus-visible:outline-accent ${SHAPES[shape].choice}`}
        >
          <input
            type="radio"
            name={name}
            value={value}
            aria-label={title}
            checked={value === chosen}
            onChange={() => onChange(value)}
            className="absolute inset-0 cursor-pointer opacity-0"
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
