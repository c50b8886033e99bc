"use client";

import { useState } from "react";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { callPortal } from "../portal/api";
import { useMailDelivery } from "../portal/mail-delivery";
import { textOf, useSubmit } from "../portal/use-submit";
import { TextField } from "../ui/field";
import { AuthDone, AuthForm } from "./auth-form";
import { NoMail } from "./no-mail";

/** Requests a mail with a link to set a new password; the answer does not reveal whether the address has an account. */
export function ForgotForm({ linkLifetimeS }: { linkLifetimeS: number }) {
  const delivery = useMailDelivery();
  const [sent, setSent] = useState(false);
  const submission = useSubmit({
    fields: ["email"],
    form: "forgot",
    send: (form) => callPortal("POST", "forgot", { email: textOf(form, "email") }),
    done: () => setSent(true),
  });
  if (sent)
    return (
      <AuthDone>
        <p>
          If that address has an account,{" "}
          {delivery === "server" ? "we've sent it an email with a link" : "there is a link for it"}. The link expires in{" "}
          {durationText(linkLifetimeS * SECOND_MS)}.
        </p>
        {delivery === "server" ? null : (
          <p>
            <NoMail />
          </p>
        )}
      </AuthDone>
    );
  return (
    <AuthForm submission={submission} action={delivery === "server" ? "Send link" : "Make link"}>
      <TextField label="Email" name="email" type="email" autoComplete="username" required error={submission.errorOf("email")} />
    </AuthForm>
  );
}
