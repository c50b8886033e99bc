"use client";

import { useState } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { AlertDialog, DialogActions } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";

function DeleteForm({ user, onCancel }: { user: PortalUser; onCancel: () => void }) {
  const [typed, setTyped] = useState("");
  const { busy, errorOf, failure, onSubmit } = useSubmit({
    fields: ["confirm", "current"],
    send: (form) => callPortal("DELETE", "account", { confirm: typed, current: textOf(form, "current") }),
    done: () => window.location.assign("/"),
  });
  return (
    <form onSubmit={onSubmit} className="space-y-4">
      <TextField
        label={
          <>
            Type <code className="select-all font-mono text-[13px] [overflow-wrap:anywhere]">{user.email}</code> to go on
          </>
        }
        name="confirm"
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        error={errorOf("confirm")}
      />
      {user.hasPassword ? (
        <TextField
          label="Password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
          error={errorOf("current")}
        />
      ) : null}
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="danger" busy={busy} disabled={typed.trim().toLowerCase() !== user.email}>
          Delete account
        </Button>
      </DialogActions>
    </form>
  );
}

/** The button that deletes the account, and the question before it. */
export function DeleteAccount({ user }: { user: PortalUser }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="flex flex-wrap items-center justify-between gap-4 rounded-lg border border-danger/40 bg-surface p-4 text-sm leading-6">
      <p className="max-w-prose text-ink-soft">Keys stop within a second. Usage and logs are deleted. This cannot be undone.</p>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Delete account
      </Button>
      <AlertDialog
        open={open}
        onOpenChange={setOpen}
        title="Delete this account"
        description="All keys stop, and everything about the account is deleted."
      >
        <DeleteForm user={user} onCancel={() => setOpen(false)} />
      </AlertDialog>
    </div>
  );
}
