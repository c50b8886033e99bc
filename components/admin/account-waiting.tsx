"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import type { ApiFailure } from "../portal/api";
import { callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { Button } from "../ui/button";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { FailureNotice } from "../ui/failure";
import { useToast } from "../ui/toast";

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
    <div className="mb-8 flex flex-wrap items-center justify-between gap-4 rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
      <p>
        <strong className="font-medium">Waits for approval</strong> since <Instant at={account.waiting_since} />.{" "}
        <span className="text-ink-soft">The owner gets an email with your decision.</span>
      </p>
      <div className="flex gap-2">
        <Button kind="danger" onClick={() => setRefusing(true)}>
          Refuse
        </Button>
        <Button kind="primary" onClick={approve}>
          Approve
        </Button>
      </div>
      <FailureNotice failure={failure} />
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
    </div>
  );
}
