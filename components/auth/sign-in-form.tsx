"use client";

import Link from "next/link";
import { useState } from "react";
import type { ApiFailure, ApiResult } from "../portal/api";
import { usePasskeySupport } from "../portal/passkey";
import {
  SECOND_FACTOR,
  signInWithCode,
  signInWithPasskey,
  signInWithPassword,
  signInWithProvider,
  signInWords,
} from "../portal/sign-in";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import { PasswordField } from "../ui/password-field";
import { AuthCard, TEXT_LINK } from "./auth-card";
import { AuthForm } from "./auth-form";
import { hasTerms, type Terms, TermsLinks } from "./terms-field";

/** Another way to sign in. */
interface Provider {
  readonly id: string;
  readonly name: string;
}

interface OtherWaysProps {
  readonly providers: readonly Provider[];
  readonly next: string;
  readonly passkeyLabel: string;
}

/** Opens the next page: a full page load, so that everything fetched without a session is fetched again. */
const open = (next: string) => window.location.assign(next);

/** The ways that are one press of a button: a passkey, and providers. */
function OtherWays({ providers, next, passkeyLabel }: OtherWaysProps) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const hasPasskeys = usePasskeySupport();
  const run = async (work: () => Promise<ApiResult<object>>, done: () => void) => {
    setBusy(true);
    const result = await work();
    setBusy(false);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) done();
  };
  return (
    <div className="mt-6 space-y-2 border-line border-t pt-6">
      {/* Disabled, not absent, where there are none: the form must not move when the page hydrates. */}
      <Button
        busy={busy}
        disabled={!hasPasskeys}
        className="w-full"
        onClick={() =>
          run(
            () => signInWithPasskey(next),
            () => open(next),
          )
        }
      >
        {passkeyLabel}
      </Button>
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          busy={busy}
          className="w-full"
          onClick={() =>
            run(
              () => signInWithProvider(id, next),
              () => {},
            )
          }
        >
          Continue with {name}
        </Button>
      ))}
      <FailureNotice failure={failure} />
    </div>
  );
}

/** The second step: a code, or a passkey instead. */
function CodeStep({ next, onCancel }: { next: string; onCancel: () => void }) {
  const submission = useSubmit({
    fields: ["code"],
    form: "code",
    send: (form) => signInWithCode(textOf(form, "code"), next),
    done: () => open(next),
  });
  return (
    <AuthCard
      title="Confirm it's you"
      lead="Your account needs a second step to sign in."
      foot={
        <button type="button" onClick={onCancel} className={TEXT_LINK}>
          Start over
        </button>
      }
    >
      <AuthForm submission={submission} action="Continue">
        <TextField
          label="Code"
          name="code"
          autoComplete="one-time-code"
          autoCapitalize="off"
          spellCheck={false}
          autoFocus
          required
          hint="From your authenticator app, or one of your recovery codes."
          error={submission.errorOf("code")}
        />
      </AuthForm>
      <OtherWays providers={[]} next={next} passkeyLabel="Use a passkey" />
    </AuthCard>
  );
}

interface SignInFormProps {
  /** The page to open next; the server has checked that it is one of ours. */
  readonly next: string;
  /** The email address, if the URL contains it. */
  readonly email: string | undefined;
  readonly providers: readonly Provider[];
  /** What a new user accepts who continues with a provider. */
  readonly terms: Terms;
  /** Whether people can sign up without an invitation. */
  readonly signUp: boolean;
  /** The error of the last attempt, from the page's URL. */
  readonly error: string | undefined;
}

/** The card of the sign-in page, for each of its steps. Signs in, then opens the next page. */
export function SignInForm({ next, email, providers, terms, signUp, error }: SignInFormProps) {
  const [secondStep, setSecondStep] = useState(error === SECOND_FACTOR);
  const submission = useSubmit<{ secondFactor: boolean }>({
    fields: ["email", "password"],
    form: "signIn",
    send: (form) => signInWithPassword(textOf(form, "email"), textOf(form, "password"), next),
    done: ({ secondFactor }) => (secondFactor ? setSecondStep(true) : open(next)),
  });
  if (secondStep) return <CodeStep next={next} onCancel={() => setSecondStep(false)} />;
  const foot = signUp ? (
    <>
      New here?{" "}
      <Link href="/signup" className={TEXT_LINK}>
        Create an account
      </Link>
    </>
  ) : (
    "New here? Accounts are created by invitation: open the link of yours."
  );
  return (
    <AuthCard title="Sign in" lead="Access your keys, usage and logs." foot={foot}>
      {error === undefined || error === SECOND_FACTOR ? null : (
        <p role="alert" className="mb-5 rounded-lg border border-danger/40 bg-surface p-4 text-sm leading-6">
          {signInWords(error)}
        </p>
      )}
      <AuthForm submission={submission} action="Sign in">
        <TextField
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={email}
          required
          error={submission.errorOf("email")}
        />
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          error={submission.errorOf("password")}
        />
      </AuthForm>
      <p className="mt-4 text-sm">
        <Link href="/forgot" className={TEXT_LINK}>
          Forgot your password?
        </Link>
      </p>
      <OtherWays providers={providers} next={next} passkeyLabel="Sign in with a passkey" />
      {providers.length > 0 && hasTerms(terms) ? (
        <p className="mt-4 text-ink-faint text-xs leading-5">
          If you have no account yet, continuing creates one and accepts the <TermsLinks terms={terms} />.
        </p>
      ) : null}
    </AuthCard>
  );
}
