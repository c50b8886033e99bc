"use client";

import { useState } from "react";
import { Countdown } from "../portal/time";
import { Button } from "../ui/button";
import type { Trouble } from "./trouble";

const MS = 1_000;

/** When the wait that a trouble asks for is over, counted from when it was first shown. */
function WaitUntil({ seconds }: { seconds: number }) {
  const [until] = useState(() => new Date(Date.now() + seconds * MS).toISOString());
  return (
    <p className="mt-1 text-ink-soft">
      Ready again in <Countdown until={until} />
    </p>
  );
}

/** What went wrong and what to do next. */
export function TroubleNotice({ trouble, retry }: { trouble: Trouble; retry?: (() => void) | undefined }) {
  const { says, next, link, requestId, retryAfterS } = trouble;
  return (
    <div role="alert" className="rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
      <p className="font-medium [overflow-wrap:anywhere]">{says}</p>
      <p className="text-ink-soft">
        {next}
        {link === undefined ? null : (
          <>
            {" "}
            <a href={link.href} className="text-accent underline">
              {link.label}
            </a>
          </>
        )}
      </p>
      {retryAfterS === undefined ? null : <WaitUntil key={requestId ?? says} seconds={retryAfterS} />}
      {requestId === undefined ? null : (
        <p className="mt-1 text-ink-faint">
          Request id <code className="select-all font-mono text-xs [overflow-wrap:anywhere]">{requestId}</code>
        </p>
      )}
      {retry === undefined ? null : (
        <Button onClick={retry} className="mt-3">
          Try again
        </Button>
      )}
    </div>
  );
}

/** Sentences to know of, that are no trouble. */
export function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 rounded-lg border border-line bg-sunken px-4 py-3 text-ink-soft text-sm leading-6">
      {notes.map((note) => (
        <li key={note} className="[overflow-wrap:anywhere]">
          {note}
        </li>
      ))}
    </ul>
  );
}
