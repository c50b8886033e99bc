"use client";

import { useState } from "react";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { TextField } from "../ui/field";
import { AuthDone, AuthForm } from "./auth-form";
import { type Mailed, NoMail } from "./no-mail";

/** Requests a mail with a link to set a new password; the answer does not reveal whether the address has an account. */
export function ForgotForm({ linkLifetimeS }: { linkLifetimeS: number }) {
  const [sent, setSent] = useState<Mailed>();
  const submission = useSubmit<Mailed>({
    fields: ["email"],
    form: "forgot",
    send: (form) => callPortal("POST", "forgot", { email: textOf(form, "email") }),
    done: setSent,
  });
  if (sent !== undefined)
    return (
      <AuthDone>
        <p>
          If that address has an account,{" "}
          {sent.delivery === "server" ? "we've sent it an email with a link" : "there is a link for it"}. The link expires in{" "}
          {durationText(linkLifetimeS * SECOND_MS)}.
        </p>
        {sent.delivery === "server" ? null : (
          <p>
            <NoMail {...sent} />
          </p>
        )}
      </AuthDone>
    );
  return (
    <AuthForm submission={submission} action="Send link">
      <TextField label="Email" name="email" type="email" autoComplete="username" required error={submission.errorOf("email")} />
    </AuthForm>
  );
}
