"use client";

import { useId } from "react";
import { Instant } from "../portal/time";
import { Button } from "../ui/button";
import type { PlayOperation } from "./model";
import type { PastCall } from "./use-past-calls";

interface PastCallsProps {
  readonly operations: readonly PlayOperation[];
  readonly calls: readonly PastCall[];
  readonly onReopen: (call: PastCall) => void;
  readonly onClear: () => void;
}

/** The last calls of this device; selecting one fills the form with it. */
export function PastCalls({ operations, calls, onReopen, onClear }: PastCallsProps) {
  const id = useId();
  const known = calls.flatMap((call) => {
    const operation = operations.find(({ id }) => id === call.operationId);
    return operation === undefined ? [] : [{ call, operation }];
  });
  if (known.length === 0) return null;
  return (
    <section aria-labelledby={id} className="mt-6 border-line border-t pt-4">
      <div className="flex items-center justify-between gap-2 pl-2.5">
        <h2 id={id} className="font-medium text-ink-faint text-xs leading-6">
          On this device
        </h2>
        <Button kind="ghost" onClick={onClear} className="min-h-7! px-2! pointer-coarse:min-h-10! text-xs!">
          Clear
        </Button>
      </div>
      <ul className="max-h-72 overflow-y-auto">
        {known.map(({ call, operation }) => (
          <li key={`${call.at} ${call.operationId}`}>
            <button
              type="button"
              onClick={() => onReopen(call)}
              className="block w-full rounded-md px-2.5 py-1.5 text-left text-sm leading-5 hover:bg-sunken"
            >
              <span className="flex justify-between gap-2">
                <span className="truncate">{operation.title}</span>
                <span className={`font-mono text-xs ${call.status === 200 ? "text-ink-faint" : "text-warning"}`}>
                  {call.status ?? "no response"}
                </span>
              </span>
              <span className="block truncate font-mono text-ink-faint text-xs">
                {Object.values(call.values).join(" ") || operation.path}
              </span>
              <span className="block text-ink-faint text-xs">
                <Instant at={new Date(call.at).toISOString()} to="second" />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
