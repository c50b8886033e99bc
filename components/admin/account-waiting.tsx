"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import type { ApiFailure } from "../portal/api";
import { callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { Button } from "../ui/button";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { useToast } from "../ui/toast";
import { DecisionNotice } from "./decision-notice";

/** Approves or refuses an account that waits. */
export function WaitingAccount({ account, onChange }: { account: PortalAccount; onChange: () => void }) {
  const announce = useToast();
  const [failure, setFailure] = useState<ApiFailure>();
  const [refusing, setRefusing] = useState(false);
  if (account.waiting_since === null) return null;
  const approve = async () => {
    const result = await callPortal("POST", `admin/accounts/${account.id}/approve`);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) announce(`${account.name} was approved.`);
    onChange();
  };
  return (
    <DecisionNotice
      text={
        <>
          <strong className="font-medium">Waits for approval</strong> since <Instant at={account.waiting_since} />.
        </>
      }
      failure={failure}
    >
      <Button kind="danger" onClick={() => setRefusing(true)}>
        Refuse
      </Button>
      <Button kind="primary" onClick={approve}>
        Approve
      </Button>
      {refusing ? (
        <ConfirmDialog
          title={`Refuse ${account.name}`}
          description="The account is deleted with its user, who may sign up again."
          word={account.name}
          action="Refuse"
          send={() => callPortal("POST", `admin/accounts/${account.id}/refuse`)}
          onDone={() => window.location.assign("/admin/accounts")}
          onClose={() => setRefusing(false)}
        />
      ) : null}
    </DecisionNotice>
  );
}
