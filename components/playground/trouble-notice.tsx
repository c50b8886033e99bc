"use client";

import { useState } from "react";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { Instant, useNow } from "../portal/time";
import { Button } from "../ui/button";
import { Prose } from "../ui/prose";
import type { Note } from "./notes";
import type { Trouble } from "./trouble";
import type { Correction } from "./trouble-correction";

/** A countdown of the required wait from when it was first shown, then a button to send again. */
function Wait({ seconds, again }: { seconds: number; again: (() => void) | undefined }) {
  const [untilMs] = useState(() => Date.now() + seconds * SECOND_MS);
  const now = useNow();
  if (now === null) return null;
  const leftS = Math.ceil((untilMs - now) / SECOND_MS);
  if (leftS > 0)
    return (
      <p className="mt-1 text-ink-soft">
        Try again in{" "}
        <span role="timer" className="font-mono tabular-nums">
          {durationText(leftS * SECOND_MS)}
        </span>
      </p>
    );
  return (
    <p className="mt-2 flex items-center gap-3 text-ink-soft">
      You can try again now.
      {again === undefined ? null : <Button onClick={again}>Send again</Button>}
    </p>
  );
}

interface TroubleNoticeProps {
  readonly trouble: Trouble;
  /** Retries the failed action; without it there is no retry button. */
  readonly again?: (() => void) | undefined;
  /** Puts the suggestion into the form, and sends it. */
  readonly onCorrect?: (correction: Correction) => void;
}

/** What went wrong and what to do next. */
export function TroubleNotice({ trouble, again, onCorrect }: TroubleNoticeProps) {
  const { says, next, correction, link, requestId, retryAfterS } = trouble;
  return (
    <div role="alert" className="rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
      <p className="font-medium [overflow-wrap:anywhere]">
        <Prose text={says} />
      </p>
      {next === undefined && link === undefined ? null : (
        <p className="text-ink-soft">
          {next === undefined ? null : <Prose text={`${next} `} />}
          {link === undefined ? null : (
            <a href={link.href} className="text-accent underline">
              {link.label}
            </a>
          )}
        </p>
      )}
      {correction === undefined || onCorrect === undefined ? null : (
        <Button onClick={() => onCorrect(correction)} className="mt-2">
          {correction.refused === undefined
            ? `Send with ${correction.parameter}=${correction.value}`
            : `Did you mean ${correction.value}?`}
        </Button>
      )}
      {retryAfterS === undefined ? null : <Wait key={requestId ?? says} seconds={retryAfterS} again={again} />}
      {requestId === undefined ? null : (
        <p className="mt-1 text-ink-faint">
          Request id <code className="select-all font-mono text-xs [overflow-wrap:anywhere]">{requestId}</code>
        </p>
      )}
      {again === undefined || retryAfterS !== undefined ? null : (
        <Button onClick={again} className="mt-3">
          Try again
        </Button>
      )}
    </div>
  );
}

/** Notices that are not errors. */
export function Notes({ notes }: { notes: readonly Note[] }) {
  if (notes.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 rounded-lg border border-line bg-sunken px-4 py-3 text-ink-soft text-sm leading-6">
      {notes.map(({ text, opensAt }) => (
        <li key={text} className="[overflow-wrap:anywhere]">
          <Prose text={text} />
          {opensAt === undefined ? null : (
            <>
              {" "}
              It opens on <Instant at={opensAt} />.
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
