"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { AuthDone, AuthForm } from "./auth-form";
import { NewPasswordField } from "./new-password-field";

interface ResetFormProps {
  readonly token: string;
  readonly passwordMinCharacters: number;
  /** Further choices, as checkboxes. */
  readonly children: ReactNode;
}

/** Sets a new password with the token of a mail; this ends every session. */
export function ResetForm({ token, passwordMinCharacters, children }: ResetFormProps) {
  const [done, setDone] = useState(false);
  const submission = useSubmit({
    fields: ["password"],
    send: (form) =>
      callPortal("POST", "reset", {
        token,
        password: textOf(form, "password"),
        revoke_keys: form.has("revoke_keys"),
        unlink_providers: form.has("unlink_providers"),
      }),
    done: () => setDone(true),
  });
  if (done)
    return (
      <AuthDone>
        <p>Your password was changed, and you were signed out in every browser.</p>
        <Link href="/signin" className={buttonClass("primary")}>
          Sign in
        </Link>
      </AuthDone>
    );
  return (
    <AuthForm submission={submission} action="Set password">
      <NewPasswordField label="New password" minCharacters={passwordMinCharacters} error={submission.errorOf("password")} />
      {children}
    </AuthForm>
  );
}
