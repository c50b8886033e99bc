"use client";

import { useId } from "react";
import { Select } from "../ui/select";
import type { PlayOperation } from "./model";

interface OperationListProps {
  readonly operations: readonly PlayOperation[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

/** The badge of a method. */
export function MethodMark({ method }: { method: PlayOperation["method"] }) {
  const live = method === "STREAM";
  return (
    <span className={`shrink-0 font-mono text-[11px] leading-6 ${live ? "text-positive" : "text-accent"}`}>
      {live ? "WS" : method}
    </span>
  );
}

function Group({ title, operations, chosen, onChoose }: OperationListProps & { readonly title: string }) {
  const id = useId();
  return (
    <div>
      <h2 id={id} className="mb-1 px-2.5 font-medium text-ink-faint text-xs leading-6">
        {title}
      </h2>
      <ul aria-labelledby={id}>
        {operations.map((operation) => (
          <li key={operation.id}>
            <button
              type="button"
              aria-current={operation.id === chosen ? "true" : undefined}
              onClick={() => onChoose(operation.id)}
              className="flex w-full items-center justify-between gap-2 rounded-md px-2.5 py-1 text-left text-ink-soft text-sm leading-6 hover:text-ink aria-[current]:bg-line/70 aria-[current]:font-medium aria-[current]:text-ink"
            >
              <span className="truncate">{operation.title}</span>
              <MethodMark method={operation.method} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The list of operations: beside the form, or as a select on narrow screens. */
export function OperationList(props: OperationListProps) {
  const id = useId();
  const { operations, chosen, onChoose } = props;
  const streams = operations.filter(({ method }) => method === "STREAM");
  const rest = operations.filter(({ method }) => method !== "STREAM");
  return (
    <nav aria-label="Operations">
      <div className="lg:hidden">
        <label htmlFor={id} className="mb-1.5 block font-medium text-sm">
          Operation
        </label>
        <Select
          id={id}
          value={chosen}
          onChange={onChoose}
          options={operations.map((operation) => ({ value: operation.id, label: operation.title }))}
        />
      </div>
      <div className="flex flex-col gap-5 max-lg:hidden">
        <Group {...props} title="REST" operations={rest} />
        <Group {...props} title="Streams" operations={streams} />
      </div>
    </nav>
  );
}
