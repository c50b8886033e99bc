"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { ActionMenu } from "../ui/menu";
import { AccountAccess } from "./account-access";
import { SignInDomain } from "./account-domain";
import { DeclineLive } from "./account-live";
import { SuspendAccount } from "./account-suspend";

const DIALOGS = { access: AccountAccess, decline: DeclineLive, domain: SignInDomain, suspend: SuspendAccount } as const;

/** What an operator can change of an account besides its plan, behind a button. */
export function AccountActions({ account, onChange }: { account: PortalAccount; onChange: () => void }) {
  const [open, setOpen] = useState<{ readonly dialog: keyof typeof DIALOGS; readonly account: PortalAccount }>();
  const Open = open && DIALOGS[open.dialog];
  const opening = (dialog: keyof typeof DIALOGS) => () => setOpen({ dialog, account });
  const suspended = account.suspended_at !== null;
  return (
    <>
      <ActionMenu
        label={`Actions for ${account.name}`}
        items={[
          { label: "Access", onSelect: opening("access") },
          ...(account.live_asked_at === null ? [] : [{ label: "Decline live access", onSelect: opening("decline") }]),
          { label: "Sign-in domain", onSelect: opening("domain") },
          { label: suspended ? "Restore" : "Suspend", danger: !suspended, onSelect: opening("suspend") },
        ]}
      />
      {Open === undefined ? null : (
        <Open account={open?.account ?? account} onClose={() => setOpen(undefined)} onChange={onChange} />
      )}
    </>
  );
}
