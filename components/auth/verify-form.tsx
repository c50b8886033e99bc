"use client";

import { type ReactNode, useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { TextField } from "../ui/field";
import { AuthCard } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";

const KEYS = "/dashboard/keys";

interface VerifyFormProps {
  readonly token: string;
  readonly signedIn: boolean;
  /** The link to take when the link of a mail does not work. */
  readonly foot: ReactNode;
}

/**
 * Uses the token of a mail when the button is pressed, not when the page opens: mail scanners open every link. Asks for the
 * password only if the server does, which is in another browser than the one that requested the link.
 */
export function VerifyForm({ token, signedIn, foot }: VerifyFormProps) {
  const [email, setEmail] = useState<string>();
  const [needsPassword, setNeedsPassword] = useState(false);
  const submission = useSubmit<{ email: string }>({
    fields: ["password"],
    send: async (form) => {
      const password = textOf(form, "password");
      const result = await callPortal<{ email: string }>("POST", "verify", password === "" ? { token } : { token, password });
      if ("failure" in result && result.failure.parameter === "password") setNeedsPassword(true);
      return result;
    },
    done: (data) => setEmail(data.email),
  });
  if (email === undefined)
    return (
      <AuthCard title="Verify your email" lead="Verify your address to create API keys." foot={foot}>
        <AuthForm submission={submission} action="Verify my email">
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
  return (
    <AuthCard title="Email verified" lead={signedIn ? "You can now create API keys." : "Sign in to create your first API key."}>
      <AuthDone>
        <p>
          <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong> is verified.
        </p>
        {/* A full page load: the dashboard may have been prefetched while the address was not verified. */}
        <a href={signedIn ? KEYS : `/signin?${new URLSearchParams({ next: KEYS, email })}`} className={buttonClass("primary")}>
          {signedIn ? "Go to your keys" : "Sign in"}
        </a>
      </AuthDone>
    </AuthCard>
  );
}
