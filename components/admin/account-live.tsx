"use client";

import type { PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { AlertDialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { useToast } from "../ui/toast";
import type { AccountDialogProps } from "./account-suspend";
import { ProviderTerms } from "./provider-terms";

/** Whether an account may use the live venue, and why. */
export function liveText({ live_access, plan_live_access }: PortalAccount): string {
  if (live_access) return "granted";
  return plan_live_access ? "by plan" : "none";
}

/** Confirms before an account gets live access or loses it. */
export function LiveAccess({ account, onClose, onChange }: AccountDialogProps) {
  const announce = useToast();
  const { name, plan, plan_live_access } = account;
  const granted = !account.live_access;
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: () => callPortal("PATCH", `admin/accounts/${account.id}`, { live_access: granted }),
    done: () => {
      onClose();
      onChange();
      announce(`Live access of ${name} ${granted ? "granted" : "withdrawn"}.`);
    },
  });
  const withdrawn = plan_live_access
    ? `The plan ${plan} still gives it live access.`
    : "Its live keys stop working and their streams close within a second. They work again as soon as you grant access.";
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`${granted ? "Grant" : "Withdraw"} live access of ${name}`}
      description={granted ? "The account can make live keys and read this installation's live feed." : withdrawn}
    >
      <form {...formProps} className="space-y-5">
        {granted ? <ProviderTerms /> : null}
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind={granted ? "primary" : "danger"}>
          {granted ? "Grant live access" : "Withdraw live access"}
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}
