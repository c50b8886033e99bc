"use client";

import { useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import { ResendButton } from "./resend-button";

/** Makes an account. The answer is the same for an address that already has one: only its mail differs. */
export function SignUpForm({ passwordMinCharacters }: { passwordMinCharacters: number }) {
  const [sentTo, setSentTo] = useState<string>();
  const { busy, errorOf, failure, onSubmit } = useSubmit({
    fields: ["email", "password", "name"],
    send: (form) => {
      const name = textOf(form, "name");
      const account = { email: textOf(form, "email"), password: textOf(form, "password") };
      return callPortal("POST", "sign-up", name === "" ? account : { ...account, name });
    },
    done: (_, form) => setSentTo(textOf(new FormData(form), "email")),
  });
  if (sentTo !== undefined) return <MailSent email={sentTo} />;
  return (
    <form onSubmit={onSubmit} className="space-y-5">
      <TextField label="E-mail" name="email" type="email" autoComplete="email" required error={errorOf("email")} />
      <TextField label="Name (optional)" name="name" autoComplete="name" error={errorOf("name")} />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={passwordMinCharacters}
        hint={`At least ${passwordMinCharacters} characters.`}
        error={errorOf("password")}
      />
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      <Button type="submit" kind="primary" busy={busy} className="w-full">
        Create account
      </Button>
    </form>
  );
}

function MailSent({ email }: { email: string }) {
  return (
    <div role="status" className="space-y-4 rounded-lg border border-line bg-surface p-5 text-sm leading-6">
      <p>
        A mail is on its way to <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>. Open its link to
        finish.
      </p>
      <ResendButton email={email} />
    </div>
  );
}
