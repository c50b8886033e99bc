"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { ActionMenu } from "../ui/menu";
import { SignInDomain } from "./account-domain";
import { DeclineLive, LiveAccess } from "./account-live";
import { EditPermissions } from "./account-permissions";
import { SuspendAccount } from "./account-suspend";

const DIALOGS = {
  permissions: EditPermissions,
  live: LiveAccess,
  decline: DeclineLive,
  domain: SignInDomain,
  suspend: SuspendAccount,
} as const;

/** What an operator can change of an account besides its plan, behind a button. */
export function AccountActions({ account, onChange }: { account: PortalAccount; onChange: () => void }) {
  const [open, setOpen] = useState<keyof typeof DIALOGS>();
  const Open = open === undefined ? undefined : DIALOGS[open];
  const decline = { label: "Decline live access", onSelect: () => setOpen("decline") };
  const suspended = account.suspended_at !== null;
  return (
    <>
      <ActionMenu
        label={`Actions for ${account.name}`}
        items={[
          { label: "Permissions", onSelect: () => setOpen("permissions") },
          { label: account.live_access ? "Withdraw live access" : "Grant live access", onSelect: () => setOpen("live") },
          ...(account.live_asked_at === null ? [] : [decline]),
          { label: "Sign-in domain", onSelect: () => setOpen("domain") },
          { label: suspended ? "Restore" : "Suspend", danger: !suspended, onSelect: () => setOpen("suspend") },
        ]}
      />
      {Open === undefined ? null : <Open account={account} onClose={() => setOpen(undefined)} onChange={onChange} />}
    </>
  );
}
