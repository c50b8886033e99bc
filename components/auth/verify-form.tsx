"use client";

import { useState } from "react";
import type { LinkEntry } from "#lib/contract/mail";
import { callPortal } from "../portal/api";
import { SECOND_FACTOR, signInWithEntry } from "../portal/sign-in";
import { textOf, useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { PasswordField } from "../ui/password-field";
import { AuthCard } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";
import { LinkFoot, LinkRead, MailLink } from "./mail-link";
import { NoMail } from "./no-mail";

const KEYS = "/dashboard/keys";
/** Opens the form for a new key. */
const FIRST_KEY = `${KEYS}?new=1`;

/** What the link does, as the page says it. */
const PURPOSES = {
  verify: { title: "Verify your email", lead: "Verify your address, then create your first API key.", action: "Verify my email" },
  change_email: {
    title: "Confirm your new email",
    lead: "Your account moves to this email when your old email has approved it, too.",
    action: "Confirm this email",
  },
  approve_email: {
    title: "Approve your new email",
    lead: "Your account moves to the new email when the link sent there is opened, too. You are then signed out everywhere.",
    action: "Approve the change",
  },
} as const;

/** The answer to an opened link. */
interface Verified {
  /** The address of the account. */
  readonly email: string;
  /** The address of a change whose link is still to be opened. */
  readonly waiting_for: "old_address" | "new_address" | null;
  readonly entry: LinkEntry;
}

/** The page that a verified reader goes on to; undefined where they have to sign in themselves. */
async function nextPage({ entry }: Verified): Promise<string | undefined> {
  if (entry === "signed_in") return FIRST_KEY;
  if (entry === "second_factor") return `/signin?${new URLSearchParams({ error: SECOND_FACTOR, next: FIRST_KEY })}`;
  return entry === "ready" && "data" in (await signInWithEntry(FIRST_KEY)) ? FIRST_KEY : undefined;
}

type Purpose = keyof typeof PURPOSES;

const CHANGE_AGAIN = { href: "/dashboard/account", label: "Request the change again" };

/** The way to a new link that verifies. */
const newLink = (signedIn: boolean) =>
  signedIn ? { href: "/dashboard", label: "Send a new link" } : { href: "/signin", label: "Sign in to get a new link" };

function Waiting({ email, waiting_for }: Omit<Verified, "entry">) {
  const address = <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>;
  return (
    <AuthCard title="One more step" lead="A change of email needs the old and the new one.">
      <AuthDone>
        {waiting_for === "old_address" ? (
          <p>
            Now approve the change: open the link in the email to {address}. <NoMail />
          </p>
        ) : (
          <p>
            Now open the link in the email to the new address. Until then, the email of your account is {address}. <NoMail />
          </p>
        )}
      </AuthDone>
    </AuthCard>
  );
}

/** The form of a link that verifies an address or changes it. */
export function VerifyForm({ signedIn }: { signedIn: boolean }) {
  return (
    <MailLink otherwise={newLink(signedIn)}>
      {(token) => (
        <LinkRead<{ purpose: Purpose | null }> path="verify/purpose" token={token}>
          {({ purpose }) => <Verification token={token} purpose={purpose ?? "verify"} signedIn={signedIn} />}
        </LinkRead>
      )}
    </MailLink>
  );
}

interface VerificationProps {
  readonly token: string;
  readonly purpose: Purpose;
  readonly signedIn: boolean;
}

/**
 * Uses the token of a mail when the button is pressed, not when the page opens: mail scanners open every link. Asks for the
 * password only if the server does, which is in another browser than the one that requested the link, unless it is signed in.
 */
function Verification({ token, purpose, signedIn }: VerificationProps) {
  const [done, setDone] = useState<Verified>();
  const [leaving, setLeaving] = useState(false);
  const [needsPassword, setNeedsPassword] = useState(false);
  const bodyOf = (form: FormData) => ({ token, password: needsPassword ? textOf(form, "password") : undefined });
  const submission = useSubmit<Verified>({
    fields: ["password"],
    form: "verify",
    bodyOf,
    send: async (form) => {
      const result = await callPortal<Verified>("POST", "verify", bodyOf(form));
      if ("failure" in result && result.failure.parameter === "password") setNeedsPassword(true);
      return result;
    },
    done: async (verified) => {
      setLeaving(true);
      const next = await nextPage(verified);
      // A page load: what was fetched before knew an unverified address, or nobody.
      if (next !== undefined) return window.location.assign(next);
      setLeaving(false);
      setDone(verified);
    },
  });
  const { title, lead, action } = PURPOSES[purpose];
  const foot = <LinkFoot {...(purpose === "verify" ? newLink(signedIn) : CHANGE_AGAIN)} />;
  if (done === undefined)
    return (
      <AuthCard title={title} lead={lead} foot={foot}>
        <AuthForm submission={{ ...submission, busy: submission.busy || leaving }} action={action}>
          {needsPassword ? (
            <PasswordField
              label="Password"
              name="password"
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
  return (
    <AuthCard
      title="Email verified"
      lead={purpose === "verify" ? `Sign in as ${email} to create your first API key.` : "Sign in with your new email."}
    >
      <AuthDone>
        <p>
          <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong> is verified.
        </p>
        {purpose === "verify" && signedIn ? (
          <p>You are signed in to another account in this browser. Sign out of it first.</p>
        ) : (
          <a
            href={`/signin?${new URLSearchParams({ next: purpose === "verify" ? FIRST_KEY : KEYS, email })}`}
            className={buttonClass("primary")}
          >
            Sign in
          </a>
        )}
      </AuthDone>
    </AuthCard>
  );
}
