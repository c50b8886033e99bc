"use client";

import { useState } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { callPortal } from "../portal/api";
import { textOf } from "../portal/use-submit";
import { Button } from "../ui/button";
import { ConfirmDialog } from "../ui/confirm-dialog";

/** The button that deletes the account, with its confirmation dialog. */
export function DeleteAccount({ user }: { user: PortalUser }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="flex flex-wrap items-center justify-between gap-4 rounded-lg border border-danger/40 bg-surface p-4 text-sm leading-6">
      <p className="max-w-prose text-ink-soft">
        Your keys stop working within a second, and usage and logs are deleted. This cannot be undone.
      </p>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Delete account
      </Button>
      {open ? (
        <ConfirmDialog
          title="Delete this account"
          description="All keys stop working, and all account data is deleted."
          word={user.email}
          action="Delete account"
          send={(form) => callPortal("DELETE", "account", { confirm: textOf(form, "confirm") })}
          onDone={() => window.location.assign("/")}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </div>
  );
}
