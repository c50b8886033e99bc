"use client";

import { useState } from "react";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { TextField } from "../ui/field";
import { AuthDone, AuthForm } from "./auth-form";

/** Requests a mail with a link to set a new password; the answer does not reveal whether the address has an account. */
export function ForgotForm({ linkLifetimeS }: { linkLifetimeS: number }) {
  const [sent, setSent] = useState(false);
  const submission = useSubmit({
    fields: ["email"],
    send: (form) => callPortal("POST", "forgot", { email: textOf(form, "email") }),
    done: () => setSent(true),
  });
  if (sent)
    return (
      <AuthDone>
        <p>
          If that address has an account, we've sent it an email with a link. The link expires in{" "}
          {durationText(linkLifetimeS * SECOND_MS)}.
        </p>
      </AuthDone>
    );
  return (
    <AuthForm submission={submission} action="Send link">
      <TextField label="Email" name="email" type="email" autoComplete="username" required error={submission.errorOf("email")} />
    </AuthForm>
  );
}
