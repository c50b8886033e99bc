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

/** A request from the playground with the reader's own key: only such requests count as their steps. */
function InPlayground({ operation, keyId, children }: { operation: string; keyId: string | null; children: string }) {
  if (keyId === null) return children;
  const href = `/playground?${new URLSearchParams({ op: operation, key: keyId })}`;
  return (
    // A tab of its own: this page ticks the step off, and may show a key once.
    <a href={href} target="_blank" rel="noreferrer" className="text-accent underline">
      {children}
    </a>
  );
}

const STEPS: readonly { step: Step; title: string; how: (tries: Overview["key_to_try"]) => ReactNode }[] = [
  {
    step: "key",
    title: "Create a key",
    how: () => (
      <Link href="/dashboard/keys?new=1" className="text-accent underline">
        Create a sandbox key
      </Link>
    ),
  },
  {
    step: "call",
    title: "Make a request",
    how: ({ call }) => (
      <>
        Run the curl command shown with your new key, or send one in the{" "}
        <InPlayground operation="latestQuotes" keyId={call}>
          playground
        </InPlayground>
        .
      </>
    ),
  },
  {
    step: "stream",
    title: "Open a stream",
    how: ({ stream }) => (
      <>
        Connect a stream in the{" "}
        <InPlayground operation="quoteStream" keyId={stream}>
          playground
        </InPlayground>
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

function Steps({ overview: { checklist: state, key_to_try }, without }: { overview: Overview; without?: Step }) {
  return (
    <ol aria-live="polite" className="divide-y divide-line rounded-lg border border-line bg-surface">
      {STEPS.filter(({ step }) => step !== without).map(({ step, title, how }) => (
        <li key={step} className="flex items-start gap-3 px-4 py-3 text-sm leading-5">
          <Tick done={state[step]} />
          <div className="min-w-0">
            <p className={state[step] ? "text-ink-faint" : "font-medium"}>{title}</p>
            {state[step] ? null : <p className="mt-0.5 text-ink-soft">{how(key_to_try)}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** First steps, ticked off once they were really done; hidden when all were done before the page was opened. */
export function Checklist({ initial }: { initial: Overview }) {
  const [wasDone] = useState(() => isDone(initial.checklist));
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
      <Steps overview={data ?? initial} />
    </section>
  );
}

/** What is left to do with a key that was just made, ticked off while it is done elsewhere. */
export function FirstCalls() {
  const { data } = usePortal<Overview>("overview");
  return data === undefined ? null : <WaitingCalls initial={data} />;
}

function WaitingCalls({ initial }: { initial: Overview }) {
  const [wasDone] = useState(initial.checklist.call && initial.checklist.stream);
  const { data } = usePortal<Overview>("overview", wasDone ? {} : polling(POLL_MS));
  if (wasDone) return null;
  return (
    <section aria-label="First steps" className="mt-5">
      <Steps overview={data ?? initial} without="key" />
    </section>
  );
}
