"use client";

import Link from "next/link";
import { useState } from "react";
import type { ApiFailure } from "../portal/api";
import { signInWithPassword, signInWithProvider } from "../portal/sign-in";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import { TEXT_LINK } from "./auth-card";

/** Somewhere else to sign in. */
export interface Provider {
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
      {failure === undefined ? null : <FailureNotice failure={failure} />}
    </div>
  );
}

/** Signs in and goes on to `next`, which the server has found to be one of our own paths. */
export function SignInForm({ next, providers }: { next: string; providers: readonly Provider[] }) {
  const { busy, failure, onSubmit } = useSubmit({
    fields: [],
    send: (form) => signInWithPassword(textOf(form, "email"), textOf(form, "password"), next),
    // A whole load: everything that was read without a session is read again.
    done: () => window.location.assign(next),
  });
  return (
    <>
      <form onSubmit={onSubmit} className="space-y-5">
        <TextField label="E-mail" name="email" type="email" autoComplete="username" required />
        <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
        {failure === undefined ? null : <FailureNotice failure={failure} />}
        <Button type="submit" kind="primary" busy={busy} className="w-full">
          Sign in
        </Button>
      </form>
      <p className="mt-4 text-sm">
        <Link href="/forgot" className={TEXT_LINK}>
          Forgot the password?
        </Link>
      </p>
      <Providers providers={providers} next={next} />
    </>
  );
}
