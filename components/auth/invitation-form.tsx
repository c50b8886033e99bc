"use client";

import { useState } from "react";
import type { LinkEntry } from "#lib/contract/mail";
import type { InvitationOffer } from "#lib/contract/organisation";
import { ROLE_WORDS } from "#lib/contract/roles";
import { callPortal } from "../portal/api";
import { useMailDelivery } from "../portal/mail-delivery";
import { SECOND_FACTOR, signInWithEntry, signOut } from "../portal/sign-in";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button, buttonClass } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import { AuthCard } from "./auth-card";
import { AuthDone, AuthForm } from "./auth-form";
import { LinkRead, MailLink } from "./mail-link";
import { NewPasswordField } from "./new-password-field";
import { NoMail } from "./no-mail";
import { hasTerms, type Terms, TermsField } from "./terms-field";

const NEXT = "/dashboard";

interface InvitationFormProps {
  /** The address of the user who is signed in here; undefined without one. */
  readonly signedInAs: string | undefined;
  readonly terms: Terms;
  readonly passwordMinCharacters: number;
}

interface OfferProps extends InvitationFormProps {
  readonly token: string;
  readonly offer: InvitationOffer;
}

const leadOf = ({ inviter, role }: InvitationOffer) =>
  `${inviter ?? "The operator of this service"} invites you as ${role}. ${ROLE_WORDS[role]}.`;

/** The page of an invitation's link: accepts it, signs in first, or creates the account. */
export function InvitationForm(props: InvitationFormProps) {
  const otherwise = { href: props.signedInAs === undefined ? "/signin" : NEXT, label: "Continue without it" };
  return (
    <MailLink otherwise={otherwise}>
      {(token) => (
        <LinkRead<InvitationOffer> path="invitations/read" token={token}>
          {(offer) => <Offer {...props} token={token} offer={offer} />}
        </LinkRead>
      )}
    </MailLink>
  );
}

function Offer(props: OfferProps) {
  const { signedInAs, offer } = props;
  if (signedInAs === offer.email) return <Accept {...props} />;
  if (signedInAs !== undefined) return <OtherUser offer={offer} signedInAs={signedInAs} />;
  if (offer.has_account) return <SignInFirst offer={offer} />;
  return <Join {...props} />;
}

function Accept({ token, offer }: OfferProps) {
  const submission = useSubmit({
    fields: [],
    send: () => callPortal("POST", "invitations/accept", { token }),
    // A page load: everything that was fetched before was of another organisation.
    done: () => window.location.assign(NEXT),
  });
  return (
    <AuthCard title={`Join ${offer.organisation}`} lead={leadOf(offer)}>
      <AuthForm submission={submission} action="Accept invitation" />
    </AuthCard>
  );
}

function OtherUser({ offer, signedInAs }: { offer: InvitationOffer; signedInAs: string }) {
  const [busy, setBusy] = useState(false);
  const leave = async () => {
    setBusy(true);
    await signOut();
  };
  return (
    <AuthCard title={`Join ${offer.organisation}`} lead={`This invitation is for ${offer.email}.`}>
      <AuthDone>
        <p>
          You are signed in as <strong className="font-medium [overflow-wrap:anywhere]">{signedInAs}</strong>. Sign out, then open
          the link again.
        </p>
        <Button kind="primary" busy={busy} onClick={leave}>
          Sign out
        </Button>
      </AuthDone>
    </AuthCard>
  );
}

function SignInFirst({ offer }: { offer: InvitationOffer }) {
  return (
    <AuthCard title={`Join ${offer.organisation}`} lead={leadOf(offer)}>
      <AuthDone>
        <p>
          <strong className="font-medium [overflow-wrap:anywhere]">{offer.email}</strong> has an account. Sign in, then open the
          link again.
        </p>
        <a href={`/signin?${new URLSearchParams({ email: offer.email, next: NEXT })}`} className={buttonClass("primary")}>
          Sign in
        </a>
      </AuthDone>
    </AuthCard>
  );
}

interface Joined {
  readonly entry: LinkEntry;
}

function Join({ token, offer, terms, passwordMinCharacters }: OfferProps) {
  const delivery = useMailDelivery();
  const [sent, setSent] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const bodyOf = (form: FormData) => ({
    token,
    password: textOf(form, "password"),
    name: textOf(form, "name") || undefined,
    terms: hasTerms(terms) ? form.has("terms") : undefined,
  });
  const submission = useSubmit<Joined>({
    fields: ["password", "name", "terms"],
    form: "invitedSignUp",
    bodyOf,
    send: (form) => callPortal("POST", "invitations/sign-up", bodyOf(form)),
    done: async (joined) => {
      if (joined.entry === "none") return setSent(true);
      setLeaving(true);
      if (joined.entry === "second_factor")
        return window.location.assign(`/signin?${new URLSearchParams({ error: SECOND_FACTOR, next: NEXT })}`);
      const signedIn = await signInWithEntry(NEXT);
      window.location.assign("data" in signedIn ? NEXT : `/signin?${new URLSearchParams({ email: offer.email })}`);
    },
  });
  if (sent)
    return (
      <AuthCard title="Verify your email" lead={`One more step before you join ${offer.organisation}.`}>
        <AuthDone>
          {delivery === "server" ? (
            <p>
              We sent an email to <strong className="font-medium [overflow-wrap:anywhere]">{offer.email}</strong>. Open the link
              in it to finish.
            </p>
          ) : (
            <p>
              <NoMail />
            </p>
          )}
        </AuthDone>
      </AuthCard>
    );
  const { errorOf, failure } = submission;
  return (
    <AuthCard title={`Join ${offer.organisation}`} lead={leadOf(offer)}>
      <AuthForm
        submission={{ ...submission, failure: undefined, busy: submission.busy || leaving }}
        action="Create account and join"
      >
        <TextField label="Email" name="email" type="email" autoComplete="username" value={offer.email} readOnly />
        <TextField label="Name (optional)" name="name" autoComplete="name" error={errorOf("name")} />
        <NewPasswordField label="Password" minCharacters={passwordMinCharacters} error={errorOf("password")} />
        <TermsField terms={terms} error={errorOf("terms")} />
        <FailureNotice failure={failure} />
      </AuthForm>
    </AuthCard>
  );
}
