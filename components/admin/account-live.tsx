"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { AlertDialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { AccountAccess } from "./account-access";
import { type AccountDialogProps, useAccountAnswer } from "./account-change";
import { DecisionNotice } from "./decision-notice";

/** Says that an account asks for live access, and decides it. */
export function AskedLive({ account, onChange }: Omit<AccountDialogProps, "onClose">) {
  const [deciding, setDeciding] = useState<{ readonly grant: boolean; readonly account: PortalAccount }>();
  const dialog = deciding && { account: deciding.account, onClose: () => setDeciding(undefined), onChange };
  return (
    <>
      {account.live_asked_at === null ? null : (
        <DecisionNotice
          text={
            <>
              <strong className="font-medium">Asks for live access</strong> since <Instant at={account.live_asked_at} />.
            </>
          }
        >
          <Button onClick={() => setDeciding({ grant: false, account })}>Decline</Button>
          <Button kind="primary" onClick={() => setDeciding({ grant: true, account })}>
            Grant live access
          </Button>
        </DecisionNotice>
      )}
      {dialog === undefined || deciding?.grant !== true ? null : <AccountAccess {...dialog} offered />}
      {dialog === undefined || deciding?.grant !== false ? null : <DeclineLive {...dialog} />}
    </>
  );
}

/** Confirms before the request of an account for live access is declined. */
export function DeclineLive({ account, ...dialog }: AccountDialogProps) {
  const { onClose } = dialog;
  const answer = useAccountAnswer({ ...dialog, said: `The request of ${account.name} was declined.` }, () =>
    callPortal("POST", `admin/accounts/${account.id}/decline-live`),
  );
  const { busy, failure, formProps } = useSubmit({ fields: [], ...answer });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`Decline the request of ${account.name}`}
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
