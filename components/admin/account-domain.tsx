"use client";

import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { useToast } from "../ui/toast";
import type { AccountDialogProps } from "./account-suspend";

/** Sets the domain whose new users join the account when a provider vouches for them. */
export function SignInDomain({ account, onClose, onChange }: AccountDialogProps) {
  const announce = useToast();
  const bodyOf = (form: FormData) => ({ sign_in_domain: textOf(form, "sign_in_domain").trim() || null });
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["sign_in_domain"],
    form: "account",
    bodyOf,
    send: (form) => callPortal("PATCH", `admin/accounts/${account.id}`, bodyOf(form)),
    done: () => {
      onClose();
      onChange();
      announce("The domain was changed.");
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Sign-in domain of ${account.name}`}
      description="New users whom a sign-in provider vouches for at this domain join the account as readers."
    >
      <form {...formProps} className="space-y-5">
        <TextField
          label="Domain"
          name="sign_in_domain"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          placeholder="example.com"
          defaultValue={account.sign_in_domain ?? ""}
          hint="Enter only a domain whose emails all belong to this customer. Leave it empty for none."
          error={errorOf("sign_in_domain")}
        />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Save
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
