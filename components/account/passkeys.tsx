"use client";

import { useState } from "react";
import { browserName } from "#lib/browser-name";
import type { NewRecoveryCodes, PortalPasskey } from "#lib/contract/second-factor";
import { callPortal } from "../portal/api";
import { makePasskey, usePasskeySupport } from "../portal/passkey";
import { Instant } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { AlertDialog, Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { Table } from "../ui/table";
import type { FactorProps } from "./factor-props";

function AddPasskey({ onAdded, onClose }: { onAdded: (made: NewRecoveryCodes) => void; onClose: () => void }) {
  const { busy, errorOf, failure, formProps } = useSubmit<NewRecoveryCodes>({
    fields: ["name"],
    form: "passkey",
    send: (form) => makePasskey(textOf(form, "name")),
    done: onAdded,
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add a passkey"
      description="Your browser then asks for your fingerprint, face, PIN or security key. The passkey stays with you; we only get its public half."
    >
      <form {...formProps} className="space-y-4">
        <TextField
          label="Name"
          name="name"
          defaultValue={browserName(navigator.userAgent) ?? "Passkey"}
          hint="To tell your passkeys apart."
          required
          error={errorOf("name")}
        />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Continue
        </DialogSubmit>
      </form>
    </Dialog>
  );
}

interface RemovePasskeyProps {
  readonly passkey: PortalPasskey;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}

function RemovePasskey({ passkey, onRemoved, onClose }: RemovePasskeyProps) {
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: () => callPortal("DELETE", `passkeys/${passkey.id}`),
    done: onRemoved,
  });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={`Remove ${passkey.name}`}
      description="You can no longer sign in with this passkey. Delete it on your device too."
    >
      <form {...formProps}>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind="danger">
          Remove passkey
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}

/** The passkeys of a user: added here, listed with their last use, removable. */
export function Passkeys({ factors, disabled, onChange }: FactorProps) {
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<PortalPasskey>();
  const supported = usePasskeySupport();
  const close = () => {
    setAdding(false);
    setRemoved(undefined);
  };
  return (
    <>
      <Table
        caption="Passkeys"
        rows={factors?.passkeys}
        rowKey={({ id }) => id}
        empty="No passkeys. A passkey replaces password and code, and cannot be phished."
        expected={1}
        columns={[
          {
            head: "Passkey",
            grow: true,
            cell: ({ name, last_used_at }) => (
              <>
                <span className="[overflow-wrap:anywhere]">{name}</span>
                <span className="block text-ink-faint text-xs leading-5 sm:hidden">
                  {last_used_at === null ? "Not used yet" : <Instant at={last_used_at} />}
                </span>
              </>
            ),
          },
          { head: "Added", from: "md", cell: ({ created_at }) => <Instant at={created_at} to="day" /> },
          {
            head: "Last used",
            from: "sm",
            cell: ({ last_used_at }) => (last_used_at === null ? "Not yet" : <Instant at={last_used_at} />),
          },
          {
            head: <span className="sr-only">Actions</span>,
            cell: (passkey) => (
              <Button aria-label={`Remove ${passkey.name}`} onClick={() => setRemoved(passkey)}>
                Remove
              </Button>
            ),
          },
        ]}
      />
      <div className="mt-3 flex flex-wrap items-center gap-3">
        <Button disabled={disabled || !supported} onClick={() => setAdding(true)}>
          Add a passkey
        </Button>
        {supported ? null : (
          <p className="text-ink-faint text-xs leading-5">Passkeys need a browser that has them, and HTTPS or localhost.</p>
        )}
      </div>
      {adding ? (
        <AddPasskey
          onClose={close}
          onAdded={(made) => {
            close();
            onChange("Passkey added.", made);
          }}
        />
      ) : null}
      {removed === undefined ? null : (
        <RemovePasskey
          passkey={removed}
          onClose={close}
          onRemoved={() => {
            close();
            onChange("Passkey removed.");
          }}
        />
      )}
    </>
  );
}
