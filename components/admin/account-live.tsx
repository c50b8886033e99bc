"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { AlertDialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { useToast } from "../ui/toast";
import type { AccountDialogProps } from "./account-suspend";
import { DecisionNotice } from "./decision-notice";
import { ProviderTerms } from "./provider-terms";

/** Whether an account may use the live venue, and why. */
export function liveText({ live_access, plan_live_access }: PortalAccount): string {
  if (live_access) return "granted";
  return plan_live_access ? "by plan" : "none";
}

/** Says that an account asks for live access, and decides it. */
export function AskedLive({ account, onChange }: Omit<AccountDialogProps, "onClose">) {
  const [deciding, setDeciding] = useState<"grant" | "decline">();
  if (account.live_asked_at === null) return null;
  const dialog = { account, onClose: () => setDeciding(undefined), onChange };
  return (
    <DecisionNotice
      text={
        <>
          <strong className="font-medium">Asks for live access</strong> since <Instant at={account.live_asked_at} />.
        </>
      }
    >
      <Button onClick={() => setDeciding("decline")}>Decline</Button>
      <Button kind="primary" onClick={() => setDeciding("grant")}>
        Grant live access
      </Button>
      {deciding === "grant" ? <LiveAccess {...dialog} /> : null}
      {deciding === "decline" ? <DeclineLive {...dialog} /> : null}
    </DecisionNotice>
  );
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
      announce(`Live access ${granted ? "granted to" : "withdrawn from"} ${name}.`);
    },
  });
  const withdrawn = plan_live_access
    ? `The plan ${plan} still gives it live access.`
    : "Its live keys stop working and their streams close within a second. They work again as soon as you grant access.";
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`${granted ? "Grant" : "Withdraw"} live access ${granted ? "to" : "from"} ${name}`}
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

/** Confirms before the request of an account for live access is declined. */
export function DeclineLive({ account, onClose, onChange }: AccountDialogProps) {
  const announce = useToast();
  const { name } = account;
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: () => callPortal("PATCH", `admin/accounts/${account.id}`, { live_access: false }),
    done: () => {
      onClose();
      onChange();
      announce(`The request of ${name} was declined.`);
    },
  });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`Decline the request of ${name}`}
      description="Its members see that it was declined, and when they can ask again: a day later."
    >
      <form {...formProps}>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind="danger">
          Decline
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}
