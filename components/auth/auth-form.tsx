"use client";

import type { ReactNode } from "react";
import type { Submission } from "../portal/use-submit";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";

interface AuthFormProps {
  readonly submission: Submission;
  /** The label of the button. */
  readonly action: string;
  readonly children?: ReactNode;
}

/** A form with its fields, an error about the whole form, and one button. */
export function AuthForm({ submission: { busy, failure, formProps }, action, children }: AuthFormProps) {
  return (
    <form {...formProps} className="space-y-5">
      {children}
      <FailureNotice failure={failure} />
      <Button type="submit" kind="primary" busy={busy} className="w-full">
        {action}
      </Button>
    </form>
  );
}

/** Replaces a form after it was sent. */
export function AuthDone({ children }: { children: ReactNode }) {
  return (
    <div role="status" className="space-y-4 rounded-lg border border-line bg-surface p-5 text-sm leading-6">
      {children}
    </div>
  );
}
