"use client";

import Link from "next/link";
import { useState } from "react";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { Button, buttonClass } from "../ui/button";
import { FailureNotice } from "../ui/failure";

/** Uses the token of a mail. By a press and not by opening: programs that look through mail open every link. */
export function VerifyForm({ token, signedIn }: { token: string; signedIn: boolean }) {
  const [email, setEmail] = useState<string>();
  const { busy, failure, onSubmit } = useSubmit<{ email: string }>({
    fields: [],
    send: () => callPortal("POST", "verify", { token }),
    done: (data) => setEmail(data.email),
  });
  if (email !== undefined)
    return (
      <div role="status" className="space-y-4 rounded-lg border border-line bg-surface p-5 text-sm leading-6">
        <p>
          <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong> is verified.
        </p>
        <Link href={signedIn ? "/dashboard" : "/signin"} className={buttonClass("primary")}>
          {signedIn ? "To the dashboard" : "Sign in"}
        </Link>
      </div>
    );
  return (
    <form onSubmit={onSubmit} className="space-y-5">
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      <Button type="submit" kind="primary" busy={busy} className="w-full">
        Verify this address
      </Button>
    </form>
  );
}
