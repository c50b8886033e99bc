import type { ApiFailure } from "../portal/api";
import { Button } from "./button";

interface FailureNoticeProps {
  /** Undefined renders nothing. */
  readonly failure: ApiFailure | undefined;
  readonly retry?: (() => void) | undefined;
}

/** What went wrong, the request id to report, and a retry button. */
export function FailureNotice({ failure, retry }: FailureNoticeProps) {
  if (failure === undefined) return null;
  return (
    <div role="alert" className="rounded-lg border border-danger/40 bg-surface p-4 text-sm leading-6">
      <p className="font-medium">{failure.detail}</p>
      {failure.requestId === null ? null : (
        <p className="mt-1 text-ink-faint">
          Request id <code className="select-all font-mono text-xs [overflow-wrap:anywhere]">{failure.requestId}</code>
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
