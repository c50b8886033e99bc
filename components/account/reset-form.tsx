"use client";

import Link from "next/link";
import { useState } from "react";
import type { PortalIdentity, PortalKey } from "#lib/contract/portal";
import { AuthCard } from "../auth/auth-card";
import { AuthDone, AuthForm } from "../auth/auth-form";
import { LinkFoot, LinkRead, MailLink } from "../auth/mail-link";
import { NewPasswordField } from "../auth/new-password-field";
import { LiveKeys } from "../keys/live-keys";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { buttonClass } from "../ui/button";
import { Checkbox } from "../ui/select";

const OTHERWISE = { href: "/forgot", label: "Request a new link" };

/** What opens the account besides its password, which the owner may revoke with the reset. */
interface OtherAccess {
  readonly keys: readonly PortalKey[];
  readonly providers: readonly PortalIdentity[];
}

interface ResetFormProps {
  readonly passwordMinCharacters: number;
}

/** Sets a new password with the token of a mail; this ends every session. */
export function ResetForm(props: ResetFormProps) {
  return (
    <MailLink otherwise={OTHERWISE}>
      {(token) => (
        <LinkRead<OtherAccess> path="reset/access" token={token}>
          {(access) => <NewPassword {...props} token={token} access={access} />}
        </LinkRead>
      )}
    </MailLink>
  );
}

interface NewPasswordProps extends ResetFormProps {
  readonly token: string;
  readonly access: OtherAccess;
}

function NewPassword({ token, passwordMinCharacters, access: { keys, providers } }: NewPasswordProps) {
  const [done, setDone] = useState(false);
  const submission = useSubmit({
    fields: ["password"],
    form: "reset",
    send: (form) =>
      callPortal("POST", "reset", {
        token,
        password: textOf(form, "password"),
        revoke_keys: form.has("revoke_keys"),
        unlink_providers: form.has("unlink_providers"),
      }),
    done: () => setDone(true),
  });
  if (done)
    return (
      <AuthCard title="Your password was changed" lead="You were signed out in every browser.">
        <AuthDone>
          <p>Sign in with your new password.</p>
          <Link href="/signin" className={buttonClass("primary")}>
            Sign in
          </Link>
        </AuthDone>
      </AuthCard>
    );
  return (
    <AuthCard title="Set a new password" lead="This signs you out in every browser." foot={<LinkFoot {...OTHERWISE} />}>
      <AuthForm submission={submission} action="Set password">
        <NewPasswordField label="New password" minCharacters={passwordMinCharacters} error={submission.errorOf("password")} />
        <LiveKeys keys={keys} />
        {providers.length === 0 ? null : (
          <Checkbox
            name="unlink_providers"
            label="Unlink the providers you sign in with"
            hint={providers.map(({ provider, issuer }) => issuer || provider).join(", ")}
            defaultChecked
          />
        )}
      </AuthForm>
    </AuthCard>
  );
}
