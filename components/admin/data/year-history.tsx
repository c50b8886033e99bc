"use client";

import type { DataHead } from "#lib/contract/portal-data";
import { Section } from "../../ui/card";
import { Select } from "../../ui/select";
import { Layers } from "./layers";
import { Past } from "./past";

interface YearProps {
  readonly head: DataHead;
  /** The chosen year, the same in both; the last one until one was chosen. */
  readonly chosen: number | undefined;
  readonly choose: (year: number) => void;
}

const NOTHING = <p className="text-ink-soft text-sm leading-6">Nothing was stored yet.</p>;

function YearSelect({
  label,
  said,
  year,
  choose,
}: { label: string; said: NonNullable<DataHead["said"]>; year: number } & Pick<YearProps, "choose">) {
  const years = Array.from({ length: said.last - said.first + 1 }, (_, index) => String(said.last - index));
  return (
    <Select
      aria-label={label}
      options={years.map((value) => ({ value, label: value }))}
      value={String(year)}
      onChange={(value) => choose(Number(value))}
    />
  );
}

/** What a chosen year is made of. Also of a history that is undone as a whole: it can be put back. */
export function YearLayers({
  head: { ticker, said, imports },
  chosen,
  choose,
  onChange,
}: YearProps & { readonly onChange: () => void }) {
  if (said === null) return NOTHING;
  const year = chosen ?? said.last;
  return (
    <Section title="Layers" aside={<YearSelect label="Year of the layers" said={said} year={year} choose={choose} />}>
      <Layers key={year} ticker={ticker} year={year} imports={imports} onChange={onChange} />
    </Section>
  );
}

/** What was known of a chosen year before. */
export function YearPast({ head: { ticker, digits, said }, chosen, choose }: YearProps) {
  if (said === null) return NOTHING;
  const year = chosen ?? said.last;
  return (
    <Section
      title={`${year} as of an earlier time`}
      aside={<YearSelect label="Year as of an earlier time" said={said} year={year} choose={choose} />}
    >
      <Past ticker={ticker} digits={digits} year={year} />
    </Section>
  );
}
