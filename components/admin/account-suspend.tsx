"use client";

import type { PortalAccount } from "#lib/contract/portal";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { AlertDialog, DialogActions } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { useToast } from "../ui/toast";

/** What a dialog about one account is given. */
export interface AccountDialogProps {
  readonly account: PortalAccount;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Asks before an account is suspended, or restored. */
export function SuspendAccount({ account, onClose, onChange }: AccountDialogProps) {
  const announce = useToast();
  const suspended = account.suspended_at === null;
  const { busy, failure, onSubmit } = useSubmit({
    fields: [],
    send: () => callPortal("PATCH", `admin/accounts/${account.id}`, { suspended }),
    done: () => {
      onClose();
      onChange();
      announce(`${account.name} is ${suspended ? "suspended" : "restored"}.`);
    },
  });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`${suspended ? "Suspend" : "Restore"} ${account.name}`}
      description={
        suspended
          ? "All its keys are refused and its streams end within a second. Nothing is deleted; it can be restored."
          : "Its keys work again within a second."
      }
    >
      <form onSubmit={onSubmit}>
        {failure === undefined ? null : <FailureNotice failure={failure} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={suspended ? "danger" : "primary"} busy={busy}>
            {suspended ? "Suspend account" : "Restore account"}
          </Button>
        </DialogActions>
      </form>
    </AlertDialog>
  );
}
