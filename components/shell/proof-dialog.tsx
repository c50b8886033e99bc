"use client";

import Link from "next/link";
import { useEffect, useState } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { TEXT_LINK } from "../auth/auth-card";
import { type ApiFailure, type ApiResult, callPortal } from "../portal/api";
import { choosePasskey } from "../portal/passkey";
import { answerProofsWith } from "../portal/proof";
import { signInWithProvider } from "../portal/sign-in";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { PasswordField } from "../ui/password-field";

interface ProofDialogProps {
  readonly user: Pick<PortalUser, "email" | "hasPassword" | "hasPasskey">;
  /** Where a user without a password can sign in again. */
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

function PasswordProof({ email, onProved }: { email: string; onProved: () => void }) {
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["current"],
    form: "proof",
    send: (form) => callPortal("POST", "proof", { current: textOf(form, "current") }),
    done: onProved,
  });
  return (
    <form {...formProps} className="space-y-4">
      {/* For password managers. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <PasswordField label="Password" name="current" autoComplete="current-password" required error={errorOf("current")} />
      <FailureNotice failure={failure} />
      <Button type="submit" kind="primary" busy={busy} className="w-full">
        Confirm
      </Button>
    </form>
  );
}

/** The ways that are one press of a button. */
function OtherProofs({ user, providers, onProved }: ProofDialogProps & { onProved: () => void }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const run = async (work: () => Promise<ApiResult<object>>, done: () => void) => {
    setBusy(true);
    const result = await work();
    setBusy(false);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) done();
  };
  const byPasskey = async () => {
    const chosen = await choosePasskey();
    return "failure" in chosen ? chosen : callPortal<object>("POST", "proof/passkey", { passkey: chosen.data });
  };
  const here = () => window.location.pathname + window.location.search;
  return (
    <div className="space-y-2">
      {user.hasPasskey ? (
        <Button busy={busy} className="w-full" onClick={() => run(byPasskey, onProved)}>
          Use a passkey
        </Button>
      ) : null}
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          busy={busy}
          className="w-full"
          onClick={() =>
            run(
              () => signInWithProvider(id, here(), true),
              () => {},
            )
          }
        >
          Continue with {name}
        </Button>
      ))}
      <FailureNotice failure={failure} />
      {user.hasPassword ? null : (
        <p className="text-ink-faint text-xs leading-5">
          Asked again after that? Your provider doesn't confirm when you signed in.{" "}
          <Link href="/forgot" className={TEXT_LINK}>
            Set a password
          </Link>{" "}
          instead.
        </p>
      )}
    </div>
  );
}

/** Asks "Confirm it's you" when a call needs a fresh proof, and then lets the call go on. */
export function ProofDialog({ user, providers }: ProofDialogProps) {
  const [open, setOpen] = useState<{ readonly settle: (proved: boolean) => void }>();
  useEffect(() => answerProofsWith(() => new Promise<boolean>((settle) => setOpen({ settle }))), []);
  const close = (proved: boolean) => {
    setOpen(undefined);
    open?.settle(proved);
  };
  return (
    <Dialog
      open={open !== undefined}
      onOpenChange={() => close(false)}
      title="Confirm it's you"
      description="Confirm who you are to make this change. We won't ask again for 10 minutes."
    >
      <div className="space-y-2">
        {user.hasPassword ? <PasswordProof email={user.email} onProved={() => close(true)} /> : null}
        <OtherProofs user={user} providers={user.hasPassword ? [] : providers} onProved={() => close(true)} />
        <Button kind="ghost" className="w-full" onClick={() => close(false)}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
