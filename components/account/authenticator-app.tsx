"use client";

import { useState } from "react";
import type { NewRecoveryCodes, TotpSetup } from "#lib/contract/second-factor";
import { type ApiFailure, callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { CopyButton } from "../ui/copy-button";
import { AlertDialog, Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { FailureNotice } from "../ui/failure";
import { TextField } from "../ui/field";
import type { FactorProps } from "./factor-props";

const PATH = "second-factors/app";
/** A secret is easier to type in groups. */
const GROUP = /.{4}(?=.)/g;

interface ConfirmAppProps {
  readonly setup: TotpSetup;
  readonly onConfirmed: (made: NewRecoveryCodes) => void;
  readonly onClose: () => void;
}

function ConfirmApp({ setup: { secret, uri, qr }, onConfirmed, onClose }: ConfirmAppProps) {
  const { busy, errorOf, failure, formProps } = useSubmit<NewRecoveryCodes>({
    fields: ["code"],
    form: "code",
    send: (form) => callPortal("PUT", PATH, { code: textOf(form, "code") }),
    done: onConfirmed,
  });
  return (
    <Dialog
      open
      sticky
      onOpenChange={onClose}
      title="Set up an authenticator app"
      description="Scan the code with an app such as Google Authenticator, 1Password or Aegis, then enter the code it shows."
    >
      <form {...formProps} className="space-y-4">
        {/* White in every theme: apps do not read inverted codes. */}
        {/* biome-ignore lint/performance/noImgElement: an image inside the page's own data needs no loader */}
        <img
          src={`data:image/svg+xml,${encodeURIComponent(qr)}`}
          alt="QR code with the setup key below"
          width={208}
          height={208}
          className="mx-auto rounded-lg border border-line bg-white"
        />
        <div className="text-center text-ink-soft text-sm leading-6">
          <p>
            Can't scan it?{" "}
            <a href={uri} className="text-accent underline">
              Open it in an app on this device
            </a>
            , or enter this key:
          </p>
          <p className="mt-1 flex flex-wrap items-center justify-center gap-2">
            <code className="select-all font-mono text-[13px] [overflow-wrap:anywhere]">{secret.replace(GROUP, "$& ")}</code>
            <CopyButton text={secret} label="Copy key" />
          </p>
        </div>
        <TextField label="Code" name="code" inputMode="numeric" autoComplete="one-time-code" required error={errorOf("code")} />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Turn on
        </DialogSubmit>
      </form>
    </Dialog>
  );
}

function RemoveApp({ onRemoved, onClose }: { onRemoved: () => void; onClose: () => void }) {
  const { busy, failure, formProps } = useSubmit({ fields: [], send: () => callPortal("DELETE", PATH), done: onRemoved });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title="Turn off the authenticator app"
      description="Its codes stop working. Without a passkey, your password alone then opens your account."
    >
      <form {...formProps}>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind="danger">
          Turn off
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}

/** Sets the authenticator app up, or turns it off. */
export function AuthenticatorApp({ factors, disabled, onChange }: FactorProps) {
  const [setup, setSetup] = useState<TotpSetup>();
  const [removing, setRemoving] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const since = factors?.totp_since ?? null;
  const start = async () => {
    setBusy(true);
    const result = await callPortal<TotpSetup>("POST", PATH);
    setBusy(false);
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) setSetup(result.data);
  };
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 text-sm leading-6">
          <h3 className="font-medium">Authenticator app</h3>
          <p className="text-ink-soft">
            {since === null ? (
              "Asks for a six-digit code after your password."
            ) : (
              <>
                On since <Instant at={since} />.
              </>
            )}
          </p>
        </div>
        {since === null ? (
          <Button busy={busy} disabled={disabled} onClick={start}>
            Set up
          </Button>
        ) : (
          <Button onClick={() => setRemoving(true)}>Turn off</Button>
        )}
      </div>
      <FailureNotice failure={failure} />
      {setup === undefined ? null : (
        <ConfirmApp
          setup={setup}
          onClose={() => setSetup(undefined)}
          onConfirmed={(made) => {
            setSetup(undefined);
            onChange("Authenticator app turned on.", made);
          }}
        />
      )}
      {removing ? (
        <RemoveApp
          onClose={() => setRemoving(false)}
          onRemoved={() => {
            setRemoving(false);
            onChange("Authenticator app turned off.");
          }}
        />
      ) : null}
    </>
  );
}
