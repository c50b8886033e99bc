"use client";

import { useState } from "react";
import type { Overview } from "#lib/contract/portal";
import { ResendButton } from "../auth/resend-button";
import { callPortal } from "../portal/api";
import { usePortal } from "../portal/read";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { Dialog, DialogActions } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { Radio } from "../ui/select";
import { ExpiryField, expiryOf } from "./expiry-field";
import { KeySettings, NEW_KEY, SETTING_FIELDS, settingsOf } from "./key-settings";
import { type MadeKey, Secret } from "./secret";

function CreateForm({ onMade, onCancel }: { onMade: (made: MadeKey) => void; onCancel: () => void }) {
  const { busy, errorOf, failure, onSubmit } = useSubmit<MadeKey>({
    fields: ["venue", ...SETTING_FIELDS, "expires_at"],
    send: (form) =>
      callPortal("POST", "keys", {
        ...settingsOf(form, NEW_KEY),
        venue: textOf(form, "venue"),
        expires_at: expiryOf(form),
      }),
    done: onMade,
  });
  return (
    <form onSubmit={onSubmit} className="space-y-5">
      <fieldset>
        <legend className="mb-1.5 font-medium text-sm">Kind</legend>
        <div className="grid gap-2 sm:grid-cols-2">
          <Radio name="venue" value="sandbox" label="Test" hint="Synthetic prices, around the clock." defaultChecked />
          <Radio name="venue" value="live" label="Live" hint="Prices from this installation's live feed." />
        </div>
      </fieldset>
      <KeySettings start={NEW_KEY} errorOf={errorOf} />
      <ExpiryField error={errorOf("expires_at")} />
      <FailureNotice failure={failure} />
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={busy}>
          Create key
        </Button>
      </DialogActions>
    </form>
  );
}

/** Shown instead of the form until the address is verified. */
function VerifyFirst({ email, onClose }: { email: string; onClose: () => void }) {
  return (
    <>
      <p className="mb-4 text-sm leading-6">
        Open the link we sent to <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>.
      </p>
      <ResendButton email={email} />
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </>
  );
}

interface Words {
  readonly title: string;
  readonly description: string;
}

const VERIFY_WORDS: Words = {
  title: "Verify your email first",
  description: "You need a verified email address to create keys.",
};
const FORM_WORDS: Words = { title: "Create a key", description: "All your keys share your plan's limits." };
const MADE_WORDS: Words = { title: "Your new key", description: "We store only a hash, so this key can't be shown again." };

/** The button that creates a key, and its dialog: the settings, then the key's text, shown once. */
export function CreateKey({ onChange }: { onChange: () => void }) {
  const { data: overview, mutate } = usePortal<Overview>("overview");
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<MadeKey>();
  const unverified = overview?.unverified_email ?? null;
  const close = () => {
    setOpen(false);
    setMade(undefined);
  };
  const show = () => {
    setOpen(true);
    // The link in the email opens in another tab, so this one has to check.
    if (unverified !== null) void mutate();
  };
  const words = made !== undefined ? MADE_WORDS : unverified === null ? FORM_WORDS : VERIFY_WORDS;
  return (
    <>
      <Button kind="primary" onClick={show}>
        Create key
      </Button>
      <Dialog
        open={open}
        onOpenChange={(next) => (next ? show() : close())}
        sticky={made !== undefined}
        wide={made !== undefined}
        {...words}
      >
        {made !== undefined ? (
          <Secret made={made} onDone={close} />
        ) : unverified !== null ? (
          <VerifyFirst email={unverified} onClose={close} />
        ) : (
          <CreateForm
            onCancel={close}
            onMade={(key) => {
              setMade(key);
              onChange();
            }}
          />
        )}
      </Dialog>
    </>
  );
}
