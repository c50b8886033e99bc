"use client";

import type { PendingEmail, PortalUser } from "#lib/contract/portal";
import { NewPasswordField } from "../auth/new-password-field";
import { NoMail } from "../auth/no-mail";
import { callPortal } from "../portal/api";
import { usePortal } from "../portal/read";
import { type Submission, textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { Card } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import { PasswordField } from "../ui/password-field";
import { useToast } from "../ui/toast";

function FormEnd({ submission: { busy, failure }, label }: { submission: Submission; label: string }) {
  return (
    <>
      <FailureNotice failure={failure} />
      <Button type="submit" busy={busy}>
        {label}
      </Button>
    </>
  );
}

interface FormProps {
  readonly user: PortalUser;
  readonly onChange: () => void;
}

/** Changes the name. */
export function ProfileForm({ user, onChange }: FormProps) {
  const announce = useToast();
  const submission = useSubmit({
    fields: ["name"],
    form: "profile",
    send: (form) => callPortal("PATCH", "profile", { name: textOf(form, "name") }),
    done: () => {
      onChange();
      announce("Saved.");
    },
  });
  return (
    <Card>
      <form {...submission.formProps} className="space-y-4">
        <TextField label="Name" name="name" autoComplete="name" defaultValue={user.name} error={submission.errorOf("name")} />
        <FormEnd submission={submission} label="Save name" />
      </form>
    </Card>
  );
}

/** The links of a requested change that have not been opened, as a sentence. */
function linksOf({ new_address, old_address }: Omit<PendingEmail, "email">): string {
  if (new_address && old_address) return "Open the links in the emails to both addresses.";
  return `Open the link in the email to ${new_address ? "the new address" : "your current address"}.`;
}

interface PendingProps {
  readonly pending: PendingEmail;
  readonly onWithdrawn: () => void;
}

/** A requested change of address, and the button that withdraws it. */
function PendingChange({ pending, onWithdrawn }: PendingProps) {
  const withdrawal = useSubmit({ fields: [], send: () => callPortal("DELETE", "email"), done: onWithdrawn });
  return (
    <form {...withdrawal.formProps} className="mb-4 space-y-3 rounded-md border border-line p-3 text-sm leading-6">
      <p>
        Changing to <span className="font-medium [overflow-wrap:anywhere]">{pending.email}</span>. {linksOf(pending)} <NoMail />
      </p>
      <FormEnd submission={withdrawal} label="Cancel the change" />
    </form>
  );
}

/** Changes the address; the new one applies once the link in its mail is opened, and the old one, if verified, has approved. */
export function EmailForm({ user, onChange }: FormProps) {
  const announce = useToast();
  const change = usePortal<{ pending: PendingEmail | null }>("email");
  const onChanged = () => {
    void change.mutate();
    onChange();
  };
  const submission = useSubmit({
    fields: ["email"],
    form: "email",
    send: (form) => callPortal("POST", "email", { email: textOf(form, "email") }),
    done: (_, form) => {
      form.reset();
      onChanged();
      announce(linksOf({ new_address: true, old_address: user.emailVerified }));
    },
  });
  const onWithdrawn = () => {
    onChanged();
    announce("The change of email is canceled.");
  };
  return (
    <Card>
      <p className="mb-4 text-ink-soft text-sm leading-6">
        Currently <span className="font-medium text-ink [overflow-wrap:anywhere]">{user.email}</span>
        {user.emailVerified
          ? ". It changes when you open the links of two emails: one to this address, one to the new one."
          : " (not verified). It changes when you open the link of an email to the new address."}
      </p>
      {change.data?.pending ? <PendingChange pending={change.data.pending} onWithdrawn={onWithdrawn} /> : null}
      <form {...submission.formProps} className="space-y-4">
        <TextField
          label="New email"
          name="email"
          type="email"
          autoComplete="email"
          required
          error={submission.errorOf("email")}
        />
        <FormEnd submission={submission} label="Change email" />
      </form>
    </Card>
  );
}

interface PasswordFormProps {
  readonly passwordMinCharacters: number;
  /** Called after the change: other browsers are signed out. */
  readonly onChange: () => void;
}

/** Changes the password. */
export function PasswordForm({ passwordMinCharacters, onChange }: PasswordFormProps) {
  const announce = useToast();
  const submission = useSubmit({
    fields: ["current", "password"],
    form: "password",
    send: (form) => callPortal("POST", "password", { current: textOf(form, "current"), password: textOf(form, "password") }),
    done: (_, form) => {
      form.reset();
      onChange();
      announce("Password changed. Other browsers were signed out.");
    },
  });
  return (
    <Card>
      <form {...submission.formProps} className="space-y-4">
        <PasswordField
          label="Current password"
          name="current"
          autoComplete="current-password"
          required
          error={submission.errorOf("current")}
        />
        <NewPasswordField label="New password" minCharacters={passwordMinCharacters} error={submission.errorOf("password")} />
        <FormEnd submission={submission} label="Change password" />
      </form>
    </Card>
  );
}
