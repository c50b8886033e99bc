import type { ReactNode } from "react";
import type { ApiFailure } from "../portal/api";
import { useMailDelivery } from "../portal/mail-delivery";
import { FailureNotice } from "../ui/failure";

interface DecisionNoticeProps {
  /** What waits, and since when. */
  readonly text: ReactNode;
  readonly failure?: ApiFailure | undefined;
  /** The buttons that decide. */
  readonly children: ReactNode;
}

/** Something of an account that waits for an operator. */
export function DecisionNotice({ text, failure, children }: DecisionNoticeProps) {
  const emails = useMailDelivery() === "server";
  return (
    <div className="mb-8 flex flex-wrap items-center justify-between gap-4 rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
      <p>
        {text} {emails ? <span className="text-ink-soft">The owners get an email with your decision.</span> : null}
      </p>
      <div className="flex gap-2">{children}</div>
      <FailureNotice failure={failure} />
    </div>
  );
}
