"use client";

import { useMemo, useState } from "react";
import { timeText } from "../portal/date-format";
import { changesOf } from "../portal/diff";
import { countText, msText } from "../portal/numbers";
import { useTimeZone } from "../portal/time";
import { Field } from "../ui/field";
import { Select } from "../ui/select";
import { KEPT_MAX_BYTES, KEPT_MAX_COUNT, type KeptAnswer, type KeptAnswers } from "./kept-answers";
import type { Answer } from "./send";

/** Differences that are listed; further ones are counted. */
const LISTED_MAX_COUNT = 200;
/** Larger answers are not compared: a page would hang. */
const SIZE_MAX_BYTES = 500_000;
const MEGABYTE = 1_000_000;
const NOTE = "text-ink-soft text-sm leading-6";

function Differences({ before, after }: { before: Answer; after: Answer }) {
  const tooLarge = before.sizeBytes + after.sizeBytes > SIZE_MAX_BYTES;
  // Typing in the form draws the page again.
  const changes = useMemo(() => (tooLarge ? [] : changesOf(before.body, after.body)), [before, after, tooLarge]);
  if (tooLarge) return <p className={NOTE}>These answers are too large to compare. Ask for fewer rows.</p>;
  const shown = changes.slice(0, LISTED_MAX_COUNT);
  return (
    <>
      <p aria-live="polite" className={NOTE}>
        {changes.length === 0
          ? "No differences."
          : `${countText(changes.length)} ${changes.length === 1 ? "difference" : "differences"}.`}{" "}
        Time: {msText(before.tookMs)} before, {msText(after.tookMs)} after.
      </p>
      {shown.length === 0 ? null : (
        <ul className="max-h-[32rem] overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[13px] leading-6">
          {shown.map(({ path, before: old, after: now }) => (
            <li key={`${path} ${old} ${now}`} className="[overflow-wrap:anywhere]">
              <span className="token-keyword">{path}</span> {old === undefined ? null : <del className="text-danger">{old}</del>}
              {old === undefined || now === undefined ? " " : " → "}
              {now === undefined ? null : <ins className="text-positive no-underline">{now}</ins>}
            </li>
          ))}
        </ul>
      )}
      {changes.length > shown.length ? <p className={NOTE}>The first {shown.length} are shown.</p> : null}
    </>
  );
}

const optionOf = ({ number, title, values, at, answer }: KeptAnswer, timeZone: string) => ({
  value: String(number),
  label: `${number}. ${title} ${values}, ${timeText(at, "clock", timeZone)} (${answer.status})`,
});

interface CompareViewProps {
  readonly kept: KeptAnswers;
  /** The answer the page shows: the later one until another is chosen. */
  readonly shown: Answer;
}

/** Any two answers of this page, value by value: at first the one shown and the one before it to the same operation. */
export function CompareView({ kept: { answers, dropped }, shown }: CompareViewProps) {
  const timeZone = useTimeZone();
  const [chosen, setChosen] = useState<{ readonly before?: string; readonly after?: string }>({});
  const find = (number: string | undefined) => answers.find((one) => String(one.number) === number);
  const after = find(chosen.after) ?? answers.find(({ answer }) => answer === shown) ?? answers[0];
  const others = answers.filter((one) => one !== after);
  const earlier = others.filter(({ number }) => number < (after?.number ?? 0));
  const before = find(chosen.before) ?? earlier.find(({ title }) => title === after?.title) ?? earlier[0] ?? others[0];
  if (before === undefined || after === undefined) return null;
  const options = answers.map((kept) => optionOf(kept, timeZone));
  const sides = { before, after };
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        {(["before", "after"] as const).map((side) => (
          <Field key={side} label={side === "before" ? "Before" : "After"}>
            {(control) => (
              <Select
                {...control}
                options={options}
                value={String(sides[side].number)}
                onChange={(number) => setChosen({ ...chosen, [side]: number })}
              />
            )}
          </Field>
        ))}
      </div>
      <Differences before={before.answer} after={after.answer} />
      {dropped === 0 ? null : (
        <p className={NOTE}>
          This page keeps the newest {KEPT_MAX_COUNT} answers, {KEPT_MAX_BYTES / MEGABYTE} MB together. Older ones can't be
          compared: {countText(dropped)} so far.
        </p>
      )}
    </div>
  );
}
