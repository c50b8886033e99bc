"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import { callPortal } from "../portal/api";
import { useMailDelivery } from "../portal/mail-delivery";
import { textOf, useSubmit } from "../portal/use-submit";
import { TextField } from "../ui/field";
import { AuthCard, TEXT_LINK } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";
import { NewPasswordField } from "./new-password-field";
import { NoMail } from "./no-mail";
import { ResendButton } from "./resend-button";
import { hasTerms, type Terms, TermsField } from "./terms-field";

interface SentProps {
  readonly email: string;
  readonly foot: ReactNode;
}

/** What to do next, where the form was. */
function Sent({ email, foot }: SentProps) {
  const delivery = useMailDelivery();
  const address = <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>;
  if (delivery === "server")
    return (
      <AuthCard title="Check your email" lead="One more step before you can create keys." foot={foot}>
        <AuthDone>
          <p>We sent an email to {address}. Open the link in it to finish.</p>
          <ResendButton email={email} />
        </AuthDone>
      </AuthCard>
    );
  return (
    <AuthCard title="Open your link" lead="One more step before you can create keys." foot={foot}>
      <AuthDone>
        <p>
          <NoMail />
        </p>
        <p>The link verifies {address} and signs you in.</p>
      </AuthDone>
    </AuthCard>
  );
}

/** Replaces the form where accounts are created only by invitation. */
function ByInvitation({ foot }: { foot: ReactNode }) {
  return (
    <AuthCard title="Sign-up by invitation" lead="Accounts of this service are created by invitation." foot={foot}>
      <AuthDone>
        <p>Open the link of your invitation, or ask the operator for one. The docs and the playground need no account.</p>
      </AuthDone>
    </AuthCard>
  );
}

interface SignUpFormProps {
  readonly mode: "open" | "invited" | "closed";
  readonly terms: Terms;
  readonly passwordMinCharacters: number;
}

const LEADS = {
  open: "Create API keys, track their usage, and stream prices.",
  invited: "An operator approves new accounts before they can create keys.",
} as const;

/** The card of the sign-up page. Creates an account. The answer is the same for an address that already has one: only the mail differs. */
export function SignUpForm({ mode, terms, passwordMinCharacters }: SignUpFormProps) {
  const [sent, setSent] = useState<string>();
  const bodyOf = (form: FormData) => ({
    email: textOf(form, "email"),
    password: textOf(form, "password"),
    name: textOf(form, "name") || undefined,
    terms: hasTerms(terms) ? form.has("terms") : undefined,
  });
  const submission = useSubmit({
    fields: ["email", "password", "name", "terms"],
    form: "signUp",
    bodyOf,
    send: (form) => callPortal("POST", "sign-up", bodyOf(form)),
    done: (_, form) => setSent(textOf(new FormData(form), "email")),
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
  if (mode === "closed") return <ByInvitation foot={foot} />;
  if (sent !== undefined) return <Sent email={sent} foot={foot} />;
  return (
    <AuthCard title="Create an account" lead={LEADS[mode]} foot={foot}>
      <AuthForm submission={submission} action="Create account">
        <TextField label="Email" name="email" type="email" autoComplete="email" required error={errorOf("email")} />
        <TextField label="Name (optional)" name="name" autoComplete="name" error={errorOf("name")} />
        <NewPasswordField label="Password" minCharacters={passwordMinCharacters} error={errorOf("password")} />
        <TermsField terms={terms} error={errorOf("terms")} />
      </AuthForm>
    </AuthCard>
  );
}
