"use client";

import type { Timeframe } from "#lib/contract/primitives";

interface TimeframesProps {
  readonly value: Timeframe;
  readonly onChange: (timeframe: Timeframe) => void;
  /** Those the instrument has. */
  readonly offered: readonly Timeframe[];
}

/** One button for each timeframe of an instrument. */
export function Timeframes({ value, onChange, offered }: TimeframesProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset does not lay out its children in a row in all browsers
    <div
      role="group"
      aria-label="Timeframe"
      className="flex gap-0.5 overflow-x-auto rounded-lg border border-line bg-sunken p-0.5"
    >
      {offered.map((timeframe) => (
        <button
          key={timeframe}
          type="button"
          aria-pressed={timeframe === value}
          onClick={() => onChange(timeframe)}
          className="min-h-8 min-w-7 flex-1 rounded-md px-0.5 sm:px-1 font-mono text-ink-soft text-xs hover:text-ink aria-pressed:bg-surface aria-pressed:text-ink aria-pressed:shadow-sm pointer-coarse:min-h-10"
        >
          {timeframe}
        </button>
      ))}
    </div>
  );
}
