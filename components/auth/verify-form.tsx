"use client";

import Link from "next/link";
import { useState } from "react";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { AuthDone, AuthForm } from "./auth-form";

/** Uses the token of a mail. By a press and not by opening: programs that look through mail open every link. */
export function VerifyForm({ token, signedIn }: { token: string; signedIn: boolean }) {
  const [email, setEmail] = useState<string>();
  const submission = useSubmit<{ email: string }>({
    fields: [],
    send: () => callPortal("POST", "verify", { token }),
    done: (data) => setEmail(data.email),
  });
  if (email === undefined) return <AuthForm submission={submission} action="Verify this address" />;
  return (
    <AuthDone>
      <p>
        <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong> is verified.
      </p>
      <Link href={signedIn ? "/dashboard" : "/signin"} className={buttonClass("primary")}>
        {signedIn ? "To the dashboard" : "Sign in"}
      </Link>
    </AuthDone>
  );
}
