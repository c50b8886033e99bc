"use client";

import Link from "next/link";
import { useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { TextField } from "../ui/field";
import { AuthCard, TEXT_LINK } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";
import { NewPasswordField } from "./new-password-field";
import { ResendButton } from "./resend-button";

/** The card of the sign-up page. Creates an account. The answer is the same for an address that already has one: only the mail differs. */
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
  const foot = (
    <>
      Already have an account?{" "}
      <Link href="/signin" className={TEXT_LINK}>
        Sign in
      </Link>
    </>
  );
  if (sentTo !== undefined)
    return (
      <AuthCard title="Check your email" lead="One more step before you can create keys." foot={foot}>
        <AuthDone>
          <p>
            We sent an email to <strong className="font-medium [overflow-wrap:anywhere]">{sentTo}</strong>. Open the link in it to
            finish.
          </p>
          <ResendButton email={sentTo} />
        </AuthDone>
      </AuthCard>
    );
  return (
    <AuthCard title="Create an account" lead="Create API keys, track their usage, and stream prices." foot={foot}>
      <AuthForm submission={submission} action="Create account">
        <TextField label="Email" name="email" type="email" autoComplete="email" required error={errorOf("email")} />
        <TextField label="Name (optional)" name="name" autoComplete="name" error={errorOf("name")} />
        <NewPasswordField label="Password" minCharacters={passwordMinCharacters} error={errorOf("password")} />
      </AuthForm>
    </AuthCard>
  );
}
