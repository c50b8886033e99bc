"use client";

import type { PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { AlertDialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { useToast } from "../ui/toast";

/** The props of a dialog about one account. */
export interface AccountDialogProps {
  readonly account: PortalAccount;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Confirms before an account is suspended or restored. */
export function SuspendAccount({ account, onClose, onChange }: AccountDialogProps) {
  const announce = useToast();
  const suspended = account.suspended_at === null;
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: () => callPortal("PATCH", `admin/accounts/${account.id}`, { suspended }),
    done: () => {
      onClose();
      onChange();
      announce(`${account.name} was ${suspended ? "suspended" : "restored"}.`);
    },
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
