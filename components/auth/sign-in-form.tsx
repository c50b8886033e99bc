"use client";

import Link from "next/link";
import { useState } from "react";
import type { ApiFailure } from "../portal/api";
import { signInWithPassword, signInWithProvider, signInWords } from "../portal/sign-in";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import { TEXT_LINK } from "./auth-card";
import { AuthForm } from "./auth-form";

/** Another way to sign in. */
interface Provider {
  readonly id: string;
  readonly name: string;
}

function Providers({ providers, next }: { providers: readonly Provider[]; next: string }) {
  const [failure, setFailure] = useState<ApiFailure>();
  if (providers.length === 0) return null;
  const leave = async (id: string) => {
    const result = await signInWithProvider(id, next);
    setFailure("failure" in result ? result.failure : undefined);
  };
  return (
    <div className="mt-6 space-y-2 border-line border-t pt-6">
      {providers.map(({ id, name }) => (
        <Button key={id} onClick={() => leave(id)} className="w-full">
          Continue with {name}
        </Button>
      ))}
      <FailureNotice failure={failure} />
    </div>
  );
}

interface SignInFormProps {
  /** The page to open next; the server has checked that it is one of ours. */
  readonly next: string;
  /** The email address, if the URL contains it. */
  readonly email: string | undefined;
  readonly providers: readonly Provider[];
  /** The error of the last attempt, from the page's URL. */
  readonly error: string | undefined;
}

/** Signs in, then opens the next page. */
export function SignInForm({ next, email, providers, error }: SignInFormProps) {
  const submission = useSubmit({
    fields: [],
    send: (form) => signInWithPassword(textOf(form, "email"), textOf(form, "password"), next),
    // A full page load: everything fetched without a session is fetched again.
    done: () => window.location.assign(next),
  });
  return (
    <>
      {error === undefined ? null : (
        <p role="alert" className="mb-5 rounded-lg border border-danger/40 bg-surface p-4 text-sm leading-6">
          {signInWords(error)}
        </p>
      )}
      <AuthForm submission={submission} action="Sign in">
        <TextField label="Email" name="email" type="email" autoComplete="username" defaultValue={email} required />
        <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
      </AuthForm>
      <p className="mt-4 text-sm">
        <Link href="/forgot" className={TEXT_LINK}>
          Forgot your password?
        </Link>
      </p>
      <Providers providers={providers} next={next} />
    </>
  );
}
