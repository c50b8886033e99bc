"use client";

import { useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { TextField } from "../ui/field";
import { AuthDone, AuthForm } from "./auth-form";
import { NewPasswordField } from "./new-password-field";
import { ResendButton } from "./resend-button";

/** Creates an account. The answer is the same for an address that already has one: only the mail differs. */
export function SignUpForm({ passwordMinCharacters }: { passwordMinCharacters: number }) {
  const [sentTo, setSentTo] = useState<string>();
  const submission = useSubmit({
    fields: ["email", "password", "name"],
    send: (form) => {
      const name = textOf(form, "name");
      const account = { email: textOf(form, "email"), password: textOf(form, "password") };
      return callPortal("POST", "sign-up", name === "" ? account : { ...account, name });
    },
    done: (_, form) => setSentTo(textOf(new FormData(form), "email")),
  });
  const { errorOf } = submission;
  if (sentTo !== undefined)
    return (
      <AuthDone>
        <p>
          We sent an email to <strong className="font-medium [overflow-wrap:anywhere]">{sentTo}</strong>. Open the link in it to
          finish.
        </p>
        <ResendButton email={sentTo} />
      </AuthDone>
    );
  return (
    <AuthForm submission={submission} action="Create account">
      <TextField label="Email" name="email" type="email" autoComplete="email" required error={errorOf("email")} />
      <TextField label="Name (optional)" name="name" autoComplete="name" error={errorOf("name")} />
      <NewPasswordField label="Password" minCharacters={passwordMinCharacters} error={errorOf("password")} />
    </AuthForm>
  );
}
