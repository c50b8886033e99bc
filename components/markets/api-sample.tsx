"use client";

import { SampleBar, useShownSample } from "../docs/sample-bar";

interface ApiSampleProps {
  /** What the code does; names the choice of its language. */
  readonly title: string;
  /** At least one, in the order they are offered. */
  readonly samples: readonly { readonly label: string; readonly code: string }[];
}

/** A call as code, in the language that the reader last chose here, in the docs or in the playground. */
export function ApiSample({ title, samples }: ApiSampleProps) {
  const shown = useShownSample(samples);
  if (shown === undefined) return null;
  return (
    <>
      <SampleBar label={`Language of ${title}`} samples={samples} shown={shown} className="border-y bg-sunken/60 px-4" />
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
        tabIndex={0}
        className="max-h-72 overflow-auto whitespace-pre-wrap p-4 font-mono text-[13px] leading-6 [overflow-wrap:anywhere]"
      >
        <code>{shown.code}</code>
      </pre>
    </>
  );
}
