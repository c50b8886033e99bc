"use client";

import { useId } from "react";
import { useCodeLanguages } from "../docs/code-languages";
import { CopyButton } from "../ui/copy-button";
import { Select } from "../ui/select";

interface ApiSampleProps {
  /** What the code does; names the choice of its language. */
  readonly title: string;
  /** At least one, in the order they are offered. */
  readonly samples: readonly { readonly label: string; readonly code: string }[];
}

/** A call as code, in the language that the reader last chose here, in the docs or in the playground. */
export function ApiSample({ title, samples }: ApiSampleProps) {
  const id = useId();
  const { chosen, choose } = useCodeLanguages();
  const language = chosen.find((one) => samples.some(({ label }) => label === one));
  const shown = samples.find(({ label }) => label === language) ?? samples[0];
  if (shown === undefined) return null;
  return (
    <>
      <div className="flex items-center justify-between gap-3 border-line border-y bg-sunken/60 px-4 py-2">
        <label htmlFor={id} className="sr-only">
          Language of {title}
        </label>
        <Select
          id={id}
          value={shown.label}
          onChange={choose}
          options={samples.map(({ label }) => ({ value: label, label }))}
          className="w-auto!"
        />
        <CopyButton text={shown.code} />
      </div>
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
