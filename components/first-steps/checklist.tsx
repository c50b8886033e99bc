"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import type { Overview } from "#lib/contract/portal";
import { SECOND_MS } from "#lib/units";
import { polling } from "../portal/polling";
import { usePortal } from "../portal/read";

type ChecklistState = Overview["checklist"];
type Step = keyof ChecklistState;

/** Usage is written every two seconds. */
const POLL_MS = 2 * SECOND_MS;

const STEPS: readonly { step: Step; title: string; how: ReactNode }[] = [
  {
    step: "key",
    title: "Create a key",
    how: (
      <Link href="/dashboard/keys?new=1" className="text-accent underline">
        Create a sandbox key
      </Link>
    ),
  },
  { step: "call", title: "Make a call", how: "Run the curl command shown with your new key, or send a call in the playground." },
  {
    step: "stream",
    title: "Open a stream",
    how: (
      <>
        Choose a stream in the{" "}
        <Link href="/playground?op=quoteStream" className="text-accent underline">
          playground
        </Link>
        , or connect to <code className="font-mono text-[13px] [overflow-wrap:anywhere]">/api/v1/market/stream</code>.
      </>
    ),
  },
];

const isDone = (state: ChecklistState) => STEPS.every(({ step }) => state[step]);

function Tick({ done }: { done: boolean }) {
  return (
    <span
      className={`flex size-5 shrink-0 items-center justify-center rounded-full border ${done ? "border-positive text-positive" : "border-edge"}`}
    >
      {done ? (
        <svg viewBox="0 0 16 16" aria-hidden="true" className="size-3" fill="none" stroke="currentColor" strokeWidth="2.5">
          <path d="m3.5 8.5 3 3 6-7" strokeLinecap="round" strokeLinejoin="round" />
        </svg>
      ) : null}
      <span className="sr-only">{done ? "Done" : "To do"}</span>
    </span>
  );
}

function Steps({ state, without }: { state: ChecklistState; without?: Step }) {
  return (
    <ol aria-live="polite" className="divide-y divide-line rounded-lg border border-line bg-surface">
      {STEPS.filter(({ step }) => step !== without).map(({ step, title, how }) => (
        <li key={step} className="flex items-start gap-3 px-4 py-3 text-sm leading-5">
          <Tick done={state[step]} />
          <div className="min-w-0">
            <p className={state[step] ? "text-ink-faint" : "font-medium"}>{title}</p>
            {state[step] ? null : <p className="mt-0.5 text-ink-soft">{how}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** First steps, ticked off once they were really done; hidden when all were done before the page was opened. */
export function Checklist({ initial }: { initial: ChecklistState }) {
  const [wasDone] = useState(() => isDone(initial));
  const [done, setDone] = useState(wasDone);
  const { data } = usePortal<Overview>("overview", {
    ...(done ? {} : polling(POLL_MS)),
    onSuccess: ({ checklist }) => setDone(isDone(checklist)),
  });
  if (wasDone) return null;
  return (
    <section aria-labelledby="first-steps" className="mb-10">
      <h2 id="first-steps" className="mb-3 font-medium">
        First steps
      </h2>
      <Steps state={data?.checklist ?? initial} />
    </section>
  );
}

/** What is left to do with a key that was just made, ticked off while it is done elsewhere. */
export function FirstCalls() {
  const { data } = usePortal<Overview>("overview");
  return data === undefined ? null : <WaitingCalls initial={data.checklist} />;
}

function WaitingCalls({ initial }: { initial: ChecklistState }) {
  const [wasDone] = useState(initial.call && initial.stream);
  const { data } = usePortal<Overview>("overview", wasDone ? {} : polling(POLL_MS));
  if (wasDone) return null;
  return (
    <section aria-label="First steps" className="mt-5">
      <Steps state={data?.checklist ?? initial} without="key" />
    </section>
  );
}
