"use client";

import { NoMail } from "../auth/no-mail";
import { ResendButton } from "../auth/resend-button";
import { useMailDelivery } from "../portal/mail-delivery";

/** Tells a user without a verified address what is unavailable, and how to verify it. */
export function VerifyNotice({ email }: { email: string }) {
  const delivery = useMailDelivery();
  return (
    <div className="mb-8 flex flex-wrap items-start justify-between gap-4 rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
      <p className="max-w-prose">
        <strong className="font-medium">Verify your email to create keys.</strong>{" "}
        <span className="text-ink-soft [overflow-wrap:anywhere]">
          {delivery === "server" ? `We sent a link to ${email}.` : <NoMail />}
        </span>
      </p>
      <ResendButton email={email} />
    </div>
  );
}
