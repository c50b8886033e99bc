"use client";

import Link from "next/link";
import { useState } from "react";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button, buttonClass } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";

/** Sets a new password by the token of a mail; every session ends with it. */
export function ResetForm({ token, passwordMinCharacters }: { token: string; passwordMinCharacters: number }) {
  const [done, setDone] = useState(false);
  const { busy, errorOf, failure, onSubmit } = useSubmit({
    fields: ["password"],
    send: (form) => callPortal("POST", "reset", { token, password: textOf(form, "password") }),
    done: () => setDone(true),
  });
  if (done)
    return (
      <div role="status" className="space-y-4 rounded-lg border border-line bg-surface p-5 text-sm leading-6">
        <p>The password is changed, and every browser was signed out.</p>
        <Link href="/signin" className={buttonClass("primary")}>
          Sign in
        </Link>
      </div>
    );
  return (
    <form onSubmit={onSubmit} className="space-y-5">
      <TextField
        label="New password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={passwordMinCharacters}
        hint={`At least ${passwordMinCharacters} characters.`}
        error={errorOf("password")}
      />
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      <Button type="submit" kind="primary" busy={busy} className="w-full">
        Set password
      </Button>
    </form>
  );
}
