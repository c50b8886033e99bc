"use client";

import { type ReactNode, useId } from "react";
import { CopyButton } from "../ui/copy-button";
import { Select } from "../ui/select";
import { useCodeLanguages } from "./code-languages";

/** A call as code in one language. */
interface Sample {
  readonly label: string;
  readonly code: string;
}

/** The sample in the language that the reader last chose here, in the docs or in the playground; the first one without. */
export function useShownSample<One extends Sample>(samples: readonly One[]): One | undefined {
  const { chosen } = useCodeLanguages();
  const language = chosen.find((one) => samples.some(({ label }) => label === one));
  return samples.find(({ label }) => label === language) ?? samples[0];
}

interface SampleBarProps {
  /** Names the choice of the language. */
  readonly label: string;
  /** In the order they are offered. */
  readonly samples: readonly Sample[];
  readonly shown: Sample;
  /** Lines, ground and padding. */
  readonly className: string;
  readonly children?: ReactNode;
}

/** Above a sample: its language, which can be changed for all samples, and a button that copies it. */
export function SampleBar({ label, samples, shown, className, children }: SampleBarProps) {
  const id = useId();
  const { choose } = useCodeLanguages();
  return (
    <div className={`flex items-center justify-between gap-3 border-line py-2 ${className}`}>
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <Select
        id={id}
        value={shown.label}
        onChange={choose}
        options={samples.map((sample) => ({ value: sample.label, label: sample.label }))}
        className="w-auto!"
      />
      {children}
      <CopyButton text={shown.code} />
    </div>
  );
}
