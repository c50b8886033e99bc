"use client";

import { useState } from "react";
import { type ApiResult, callPortal } from "../portal/api";
import { Button } from "../ui/button";

/** Sends the verification mail again. */
export function ResendButton({ email }: { email: string }) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<ApiResult<object>>();
  const resend = async () => {
    setBusy(true);
    setResult(await callPortal("POST", "resend", { email }));
    setBusy(false);
  };
  return (
    <div>
      <Button busy={busy} onClick={resend}>
        Resend the email
      </Button>
      <p role="status" className="mt-2 text-ink-faint text-xs leading-5 empty:mt-0">
        {result === undefined ? "" : "failure" in result ? result.failure.detail : "Sent. Check your spam folder too."}
      </p>
    </div>
  );
}
