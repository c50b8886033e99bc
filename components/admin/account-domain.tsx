"use client";

import { textOf } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { type AccountDialogProps, useAccountChange } from "./account-change";

/** Sets the domain whose users join the account when a provider vouches for them. */
export function SignInDomain(props: AccountDialogProps) {
  const { account, onClose } = props;
  const { busy, errorOf, failure, formProps } = useAccountChange(props, {
    fields: ["sign_in_domain"],
    bodyOf: (form) => ({ sign_in_domain: textOf(form, "sign_in_domain").trim() || null }),
    said: "The domain was changed.",
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Sign-in domain of ${account.name}`}
      description="Anyone whose sign-in provider confirms an email address at this domain joins the account as a reader."
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
