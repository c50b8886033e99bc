"use client";

import { useState } from "react";
import type { MailDelivery } from "#lib/contract/mail";
import { INVITATION_LIFETIME_S, type Role } from "#lib/contract/roles";
import { DAY_S } from "#lib/units";
import { callPortal } from "../portal/api";
import { useMailDelivery } from "../portal/mail-delivery";
import { textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { Radio } from "../ui/select";
import { ShownOnce } from "../ui/shown-once";
import { useToast } from "../ui/toast";
import { RoleSelect } from "./role-select";

interface InviteDialogProps {
  /** Where it is posted, below /api/portal. */
  readonly path: string;
  readonly organisation: string;
  /** The role that is chosen at first. */
  readonly firstRole: Role;
  readonly onInvited: () => void;
  readonly onClose: () => void;
}

const MAIL_HINTS: Readonly<Record<MailDelivery, string>> = {
  server: "Opening it proves the email.",
  outbox: "No mail server is set up: it goes to the outbox.",
  log: "No mail server is set up: it goes to the service's log.",
};
const DAYS = INVITATION_LIFETIME_S / DAY_S;

/** Invites an address to an organisation: mails the link, or shows it once. */
export function InviteDialog({ path, organisation, firstRole, onInvited, onClose }: InviteDialogProps) {
  const delivery = useMailDelivery();
  const announce = useToast();
  const [role, setRole] = useState(firstRole);
  const [mail, setMail] = useState(delivery === "server");
  const [link, setLink] = useState<string>();
  const bodyOf = (form: FormData) => ({ email: textOf(form, "email"), role, mail });
  const { busy, errorOf, failure, formProps } = useSubmit<{ link: string | null }>({
    fields: ["email"],
    form: "invite",
    bodyOf,
    send: (form) => callPortal("POST", path, bodyOf(form)),
    done: (made, form) => {
      onInvited();
      if (made.link !== null) return setLink(made.link);
      onClose();
      announce(`Invitation sent to ${textOf(new FormData(form), "email")}.`);
    },
  });
  if (link !== undefined)
    return (
      <Dialog open sticky onOpenChange={onClose} title="Invitation link" description={`Works once, for ${DAYS} days.`}>
        <ShownOnce text={link} onDone={onClose}>
          <p className="mt-4 text-ink-soft text-sm leading-6">
            New users must verify the invited email address before they join.
          </p>
        </ShownOnce>
      </Dialog>
    );
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Invite to ${organisation}`}
      description={`The invitation ends after ${DAYS} days.`}
    >
      <form {...formProps} className="space-y-5">
        <TextField label="Email" name="email" type="email" autoComplete="off" required error={errorOf("email")} />
        <RoleSelect role={role} onChange={setRole} />
        <fieldset className="grid gap-2 sm:grid-cols-2">
          <legend className="mb-1.5 font-medium text-sm">Link</legend>
          <Radio label="Email it" name="mail" hint={MAIL_HINTS[delivery]} checked={mail} onChange={() => setMail(true)} />
          <Radio
            label="Copy it"
            name="mail"
            hint="Pass it on yourself. The email is verified later."
            checked={!mail}
            onChange={() => setMail(false)}
          />
        </fieldset>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          {mail ? "Send invitation" : "Create link"}
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
