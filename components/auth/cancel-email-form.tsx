"use client";

import Link from "next/link";
import { useState } from "react";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { AuthCard } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";
import { LinkFoot, MailLink } from "./mail-link";

const OTHERWISE = { href: "/forgot", label: "Set a new password" };

/** Cancels a change of email when the button is pressed, not when the page opens: mail scanners open every link. */
export function CancelEmailForm() {
  return <MailLink otherwise={OTHERWISE}>{(token) => <Cancellation token={token} />}</MailLink>;
}

function Cancellation({ token }: { token: string }) {
  const [email, setEmail] = useState<string>();
  const submission = useSubmit<{ email: string }>({
    fields: [],
    send: () => callPortal("POST", "email/cancel", { token }),
    done: (data) => setEmail(data.email),
  });
  if (email === undefined)
    return (
      <AuthCard
        title="Keep your email address"
        lead="This cancels the change and signs you out in every browser."
        foot={<LinkFoot {...OTHERWISE} />}
      >
        <AuthForm submission={submission} action="Cancel the change" />
      </AuthCard>
    );
  return (
    <AuthCard title="The change was canceled" lead="You were signed out in every browser.">
      <AuthDone>
        <p>
          Your address is still <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>. Someone who knows your
          password requested the change, so set a new one.
        </p>
        <Link href="/forgot" className={buttonClass("primary")}>
          Set a new password
        </Link>
      </AuthDone>
    </AuthCard>
  );
}
