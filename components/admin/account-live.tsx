"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { type ApiFailure, callPortal } from "../portal/api";
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
  const announce = useToast();
  const [granting, setGranting] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  if (account.live_asked_at === null) return null;
  const decline = async () => {
    const result = await callPortal("PATCH", `admin/accounts/${account.id}`, { live_access: false });
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) announce(`The request of ${account.name} was declined.`);
    onChange();
  };
  return (
    <DecisionNotice
      text={
        <>
          <strong className="font-medium">Asks for live access</strong> since <Instant at={account.live_asked_at} />.
        </>
      }
      failure={failure}
    >
      <Button onClick={() => void decline()}>Decline</Button>
      <Button kind="primary" onClick={() => setGranting(true)}>
        Grant live access
      </Button>
      {granting ? <LiveAccess account={account} onClose={() => setGranting(false)} onChange={onChange} /> : null}
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
