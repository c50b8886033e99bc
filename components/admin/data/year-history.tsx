"use client";

import { useState } from "react";
import type { DataHead } from "#lib/contract/portal-data";
import { Section } from "../../ui/card";
import { Select } from "../../ui/select";
import { Layers } from "./layers";
import { Past } from "./past";

interface YearHistoryProps {
  readonly head: DataHead;
  readonly onChange: () => void;
}

/** What a chosen year is made of, and what was known of it before. Also of a history that is undone as a whole: it can be put back. */
export function YearHistory({ head, onChange }: YearHistoryProps) {
  const { ticker, digits, said, imports } = head;
  const [chosen, setChosen] = useState<number>();
  if (said === null) return null;
  const year = chosen ?? said.last;
  const years = Array.from({ length: said.last - said.first + 1 }, (_, index) => String(said.last - index));
  return (
    <>
      <Section
        title="Layers"
        aside={
          <Select
            aria-label="Year of the layers"
            options={years.map((value) => ({ value, label: value }))}
            value={String(year)}
            onChange={(value) => setChosen(Number(value))}
          />
        }
      >
        <Layers key={year} ticker={ticker} year={year} imports={imports} onChange={onChange} />
      </Section>
      <Section title={`${year} as of an earlier time`}>
        <Past ticker={ticker} digits={digits} year={year} />
      </Section>
    </>
  );
}
