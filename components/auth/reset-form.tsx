"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { AuthCard } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";
import { NewPasswordField } from "./new-password-field";

interface ResetFormProps {
  readonly token: string;
  readonly passwordMinCharacters: number;
  /** Further choices, as checkboxes. */
  readonly children: ReactNode;
  /** The way out when the link does not work. */
  readonly foot: ReactNode;
}

/** Sets a new password with the token of a mail; this ends every session. */
export function ResetForm({ token, passwordMinCharacters, children, foot }: ResetFormProps) {
  const [done, setDone] = useState(false);
  const submission = useSubmit({
    fields: ["password"],
    form: "reset",
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
      <AuthCard title="Your password was changed" lead="You were signed out in every browser.">
        <AuthDone>
          <p>Sign in with your new password.</p>
          <Link href="/signin" className={buttonClass("primary")}>
            Sign in
          </Link>
        </AuthDone>
      </AuthCard>
    );
  return (
    <AuthCard title="Set a new password" lead="This signs you out in every browser." foot={foot}>
      <AuthForm submission={submission} action="Set password">
        <NewPasswordField label="New password" minCharacters={passwordMinCharacters} error={submission.errorOf("password")} />
        {children}
      </AuthForm>
    </AuthCard>
  );
}
