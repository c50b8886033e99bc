"use client";

import { PageMain } from "#components/shell/page-main";
import { buttonClass } from "#components/ui/button";

/** Replaces a page that failed to render; the digest identifies the failure in the log. */
export default function PageError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <PageMain>
      <section className="max-w-prose" role="alert">
        <h1 className="font-semibold text-3xl tracking-tight">Something went wrong</h1>
        <p className="mt-4 text-ink-soft">
          This page failed to load, and the error was logged. Try again in a moment
          {error.digest === undefined ? (
            "."
          ) : (
            <>
              . If it happens again, report it with error id <code className="select-all font-mono text-sm">{error.digest}</code>.
            </>
          )}
        </p>
        <button type="button" onClick={reset} className={`${buttonClass("primary")} mt-6`}>
          Try again
        </button>
      </section>
    </PageMain>
  );
}
