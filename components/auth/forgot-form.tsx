"use client";

import { useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";

/** Asks for a mail with a link to a new password; the answer does not say whether the address has an account. */
export function ForgotForm() {
  const [sent, setSent] = useState(false);
  const { busy, errorOf, failure, onSubmit } = useSubmit({
    fields: ["email"],
    send: (form) => callPortal("POST", "forgot", { email: textOf(form, "email") }),
    done: () => setSent(true),
  });
  if (sent)
    return (
      <p role="status" className="rounded-lg border border-line bg-surface p-5 text-sm leading-6">
        If that address has an account, a mail with a link is on its way. The link is good for one hour.
      </p>
    );
  return (
    <form onSubmit={onSubmit} className="space-y-5">
      <TextField label="E-mail" name="email" type="email" autoComplete="username" required error={errorOf("email")} />
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      <Button type="submit" kind="primary" busy={busy} className="w-full">
        Send the link
      </Button>
    </form>
  );
}
