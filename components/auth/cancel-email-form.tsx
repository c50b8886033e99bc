"use client";

import Link from "next/link";
import { useState } from "react";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { AuthDone, AuthForm } from "./auth-form";

/** Cancels a change of email when the button is pressed, not when the page opens: mail scanners open every link. */
export function CancelEmailForm({ token }: { token: string }) {
  const [email, setEmail] = useState<string>();
  const submission = useSubmit<{ email: string }>({
    fields: [],
    send: () => callPortal("POST", "email/cancel", { token }),
    done: (data) => setEmail(data.email),
  });
  if (email === undefined) return <AuthForm submission={submission} action="Cancel the change" />;
  return (
    <AuthDone>
      <p>
        Your address is still <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>. Someone who knows your
        password requested the change, so set a new one.
      </p>
      <Link href="/forgot" className={buttonClass("primary")}>
        Set a new password
      </Link>
    </AuthDone>
  );
}
