"use client";

import { AlertDialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { type AccountDialogProps, useAccountChange } from "./account-change";

/** Confirms before an account is suspended or restored. */
export function SuspendAccount(props: AccountDialogProps) {
  const { account, onClose } = props;
  const suspended = account.suspended_at === null;
  const { busy, failure, formProps } = useAccountChange(props, {
    bodyOf: () => ({ suspended }),
    said: `${account.name} was ${suspended ? "suspended" : "restored"}.`,
  });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`${suspended ? "Suspend" : "Restore"} ${account.name}`}
      description={
        suspended
          ? "Its keys stop working and its streams close within a second. Nothing is deleted, and you can restore the account."
          : "Its keys start working again within a second."
      }
    >
      <form {...formProps}>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind={suspended ? "danger" : "primary"}>
          {suspended ? "Suspend account" : "Restore account"}
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}
