import type { Metadata } from "next";
import Link from "next/link";
import type { PageSearch } from "#app/page-search";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { ResetForm } from "#components/auth/reset-form";
import { LiveKeys } from "#components/keys/live-keys";
import { buttonClass } from "#components/ui/button";
import { Checkbox } from "#components/ui/select";
import { accessBehindReset } from "#lib/access/users/password";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";
import { runningPortal } from "#lib/portal/runtime";

// The URL contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Set a new password", referrer: "no-referrer" };

/** Where the link of a reset mail leads. */
export default async function ResetPage({ searchParams }: PageSearch) {
  const { token } = await searchParams;
  const foot = (
    <>
      Link not working?{" "}
      <Link href="/forgot" className={TEXT_LINK}>
        Request a new one
      </Link>
    </>
  );
  if (typeof token !== "string" || token === "")
    return (
      <AuthCard title="This link is incomplete" lead="Open the link in the email again, or request a new one.">
        <Link href="/forgot" className={buttonClass("primary")}>
          Request a new link
        </Link>
      </AuthCard>
    );
  const running = runningPortal();
  const other = running && (await accessBehindReset(running.users, token));
  return (
    <AuthCard title="Set a new password" lead="This signs you out in every browser." foot={foot}>
      <ResetForm token={token} passwordMinCharacters={PASSWORD_MIN_CHARACTERS}>
        <LiveKeys keys={other?.keys ?? []} />
        {other?.providers.length ? (
          <Checkbox
            name="unlink_providers"
            label="Unlink the providers you sign in with"
            hint={other.providers.map(({ provider, issuer }) => issuer || provider).join(", ")}
            defaultChecked
          />
        ) : null}
      </ResetForm>
    </AuthCard>
  );
}
