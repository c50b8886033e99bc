"use client";

import { type ReactNode, useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { TextField } from "../ui/field";
import { AuthCard } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";

const KEYS = "/dashboard/keys";

/** What the link does, as the page says it. */
const PURPOSES = {
  verify: { title: "Verify your email", lead: "Verify your address to create API keys.", action: "Verify my email" },
  change_email: {
    title: "Confirm your new email",
    lead: "Your account moves to this address when your old address has approved it, too.",
    action: "Confirm this address",
  },
  approve_email: {
    title: "Approve your new email",
    lead: "Your account moves to the new address when the link sent there is opened, too. You are then signed out everywhere.",
    action: "Approve the change",
  },
} as const;

/** The answer to an opened link. */
interface Verified {
  /** The address of the account. */
  readonly email: string;
  /** The address of a change whose link is still to be opened. */
  readonly waiting_for: "old_address" | "new_address" | null;
}

interface VerifyFormProps {
  readonly token: string;
  readonly purpose: keyof typeof PURPOSES;
  readonly signedIn: boolean;
  /** The link to take when the link of a mail does not work. */
  readonly foot: ReactNode;
}

function Waiting({ email, waiting_for }: Verified) {
  const address = <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>;
  return (
    <AuthCard title="One more step" lead="A change of email needs both addresses.">
      <AuthDone>
        {waiting_for === "old_address" ? (
          <p>Now approve the change: open the link in the email we sent to {address}.</p>
        ) : (
          <p>Now open the link in the email we sent to the new address. Until then, the address of your account is {address}.</p>
        )}
      </AuthDone>
    </AuthCard>
  );
}

/**
 * Uses the token of a mail when the button is pressed, not when the page opens: mail scanners open every link. Asks for the
 * password only if the server does, which is in another browser than the one that requested the link.
 */
export function VerifyForm({ token, purpose, signedIn, foot }: VerifyFormProps) {
  const [done, setDone] = useState<Verified>();
  const [needsPassword, setNeedsPassword] = useState(false);
  const submission = useSubmit<Verified>({
    fields: ["password"],
    send: async (form) => {
      const password = textOf(form, "password");
      const result = await callPortal<Verified>("POST", "verify", password === "" ? { token } : { token, password });
      if ("failure" in result && result.failure.parameter === "password") setNeedsPassword(true);
      return result;
    },
    done: setDone,
  });
  const { title, lead, action } = PURPOSES[purpose];
  if (done === undefined)
    return (
      <AuthCard title={title} lead={lead} foot={foot}>
        <AuthForm submission={submission} action={action}>
          {needsPassword ? (
            <TextField
              label="Password"
              name="password"
              type="password"
              autoComplete="current-password"
              required
              error={submission.errorOf("password")}
            />
          ) : null}
        </AuthForm>
      </AuthCard>
    );
  if (done.waiting_for !== null) return <Waiting {...done} />;
  const { email } = done;
  // A change of email signs out every browser.
  const stillSignedIn = signedIn && purpose === "verify";
  return (
    <AuthCard
      title="Email verified"
      lead={
        stillSignedIn
          ? "You can now create API keys."
          : purpose === "verify"
            ? "Sign in to create your first API key."
            : "Sign in with your new address."
      }
    >
      <AuthDone>
        <p>
          <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong> is verified.
        </p>
        {/* A full page load: the dashboard may have been prefetched while the address was not verified. */}
        <a
          href={stillSignedIn ? KEYS : `/signin?${new URLSearchParams({ next: KEYS, email })}`}
          className={buttonClass("primary")}
        >
          {stillSignedIn ? "Go to your keys" : "Sign in"}
        </a>
      </AuthDone>
    </AuthCard>
  );
}
