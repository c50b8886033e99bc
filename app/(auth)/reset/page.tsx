import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { IncompleteLink, LinkFoot } from "#components/auth/email-link";
import { ResetForm } from "#components/auth/reset-form";
import { LiveKeys } from "#components/keys/live-keys";
import { Checkbox } from "#components/ui/select";
import { accessBehindReset } from "#lib/access/users/password";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";
import { runningPortal } from "#lib/portal/runtime";

// The URL contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Set a new password", referrer: "no-referrer" };

const OTHERWISE = { href: "/forgot", label: "Request a new link" };

/** Where the link of a reset mail leads. */
export default async function ResetPage({ searchParams }: PageSearch) {
  const { token } = await searchParams;
  if (typeof token !== "string" || token === "") return <IncompleteLink {...OTHERWISE} />;
  const running = runningPortal();
  const other = running && (await accessBehindReset(running.users, token));
  return (
    <ResetForm token={token} passwordMinCharacters={PASSWORD_MIN_CHARACTERS} foot={<LinkFoot {...OTHERWISE} />}>
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
  );
}
