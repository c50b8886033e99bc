"use client";

import { useState } from "react";
import { type ApiFailure, networkFailure } from "../portal/api";

/** Ends the session and opens the sign-in page; says why when that fails. */
export function SignOutButton({ className }: { className: string }) {
  const [failure, setFailure] = useState<ApiFailure>();
  const leave = async () => {
    // Loaded when it is needed: it brings everything that signing in needs.
    const signIn = await import("../portal/sign-in").catch(() => undefined);
    const result = signIn === undefined ? { failure: networkFailure() } : await signIn.signOut();
    setFailure("failure" in result ? result.failure : undefined);
  };
  return (
    <>
      <button type="button" onClick={leave} className={className}>
        Sign out
      </button>
      {failure === undefined ? null : (
        <p role="alert" className="px-3 py-2 text-danger text-xs leading-5">
          {failure.detail}
        </p>
      )}
    </>
  );
}
