import Link from "next/link";
import type { ReactNode } from "react";
import type { Overview } from "#lib/contract/portal";

type ChecklistState = Overview["checklist"];

const STEPS: readonly { step: keyof ChecklistState; title: string; how: ReactNode }[] = [
  {
    step: "key",
    title: "Create a key",
    how: (
      <Link href="/dashboard/keys" className="text-accent underline">
        Create a test key
      </Link>
    ),
  },
  { step: "call", title: "Make a call", how: "Run the curl command shown with your new key." },
  {
    step: "stream",
    title: "Open a stream",
    how: (
      <>
        Connect to <code className="font-mono text-[13px]">/api/v1/market/stream</code> with a key that has the{" "}
        <code className="font-mono text-[13px]">market:stream</code> scope.
      </>
    ),
  },
];

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

/** First steps, ticked off once they were really done; hidden when all are. */
export function Checklist({ state }: { state: ChecklistState }) {
  if (STEPS.every(({ step }) => state[step])) return null;
  return (
    <section aria-labelledby="first-steps" className="mb-10">
      <h2 id="first-steps" className="mb-3 font-medium">
        First steps
      </h2>
      <ol className="divide-y divide-line rounded-lg border border-line bg-surface">
        {STEPS.map(({ step, title, how }) => (
          <li key={step} className="flex items-start gap-3 px-4 py-3 text-sm leading-5">
            <Tick done={state[step]} />
            <div>
              <p className={state[step] ? "text-ink-faint" : "font-medium"}>{title}</p>
              {state[step] ? null : <p className="mt-0.5 text-ink-soft">{how}</p>}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
