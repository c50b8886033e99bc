"use client";

import { useState } from "react";
import { type ApiResult, callPortal } from "../portal/api";
import { useMailDelivery } from "../portal/mail-delivery";
import { Button } from "../ui/button";
import { NoMail } from "./no-mail";

function Outcome({ result }: { result: ApiResult<unknown> }) {
  const delivery = useMailDelivery();
  if ("failure" in result) return result.failure.detail;
  if (delivery === "server") return "Sent. Check your spam folder too.";
  return (
    <>
      Made a new link. <NoMail />
    </>
  );
}

/** Sends the verification mail again. */
export function ResendButton({ email }: { email: string }) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<ApiResult<unknown>>();
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
      <p role="status" className="mt-2 max-w-prose text-ink-faint text-xs leading-5 empty:mt-0">
        {result === undefined ? null : <Outcome result={result} />}
      </p>
    </div>
  );
}
