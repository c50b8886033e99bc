"use client";

import { useState } from "react";
import type { Overview } from "#lib/contract/portal";
import type { Venue } from "#lib/contract/primitives";
import { NoMail } from "../auth/no-mail";
import { ResendButton } from "../auth/resend-button";
import { callPortal } from "../portal/api";
import { AskLive } from "../portal/ask-live";
import { useMailDelivery } from "../portal/mail-delivery";
import { NoLiveFeed } from "../portal/no-live-feed";
import { usePortal } from "../portal/read";
import { useTimeZone } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { Dialog, DialogActions } from "../ui/dialog";
import { FailureNotice } from "../ui/failure";
import { Radio } from "../ui/select";
import { ExpiryField, expiryOf } from "./expiry-field";
import { KeySettings, NEW_KEY, SETTING_FIELDS, settingsOf } from "./key-settings";
import { type MadeKey, Secret } from "./secret";

const KINDS: readonly { value: Venue; label: string; hint: string }[] = [
  { value: "sandbox", label: "Sandbox", hint: "Synthetic prices, 24/7." },
  { value: "live", label: "Live", hint: "Prices from this installation's live feed." },
];

interface CreateFormProps {
  readonly liveAccess: boolean;
  readonly liveFeed: boolean;
  readonly onMade: (made: MadeKey) => void;
  readonly onCancel: () => void;
}

function CreateForm({ liveAccess, liveFeed, onMade, onCancel }: CreateFormProps) {
  const [venue, setVenue] = useState<Venue>("sandbox");
  const refused = venue === "live" && !liveAccess;
  const zone = useTimeZone();
  const bodyOf = (form: FormData) => ({
    ...settingsOf(form, NEW_KEY, zone),
    venue: textOf(form, "venue"),
    expires_at: expiryOf(form, zone),
  });
  const { busy, errorOf, failure, formProps } = useSubmit<MadeKey>({
    fields: ["venue", ...SETTING_FIELDS, "expires_at"],
    form: "createKey",
    bodyOf,
    send: (form) => callPortal("POST", "keys", bodyOf(form)),
    done: onMade,
  });
  return (
    <form {...formProps} className="space-y-5">
      <fieldset>
        <legend className="mb-1.5 font-medium text-sm">Kind</legend>
        <div className="grid gap-2 sm:grid-cols-2">
          {KINDS.map(({ value, ...words }) => (
            <Radio key={value} name="venue" value={value} {...words} checked={venue === value} onChange={() => setVenue(value)} />
          ))}
        </div>
        {refused ? (
          <p role="status" className="mt-2 rounded-md border border-line bg-sunken px-3 py-2 text-sm leading-6">
            Live keys need access that the operator grants. A sandbox key works now. <AskLive />
          </p>
        ) : venue === "live" && !liveFeed ? (
          <div className="mt-2">
            <NoLiveFeed>
              requests with a live key return <code className="font-mono text-[13px]">market_data_not_ready</code>. A sandbox key
              works now.
            </NoLiveFeed>
          </div>
        ) : null}
      </fieldset>
      <KeySettings start={NEW_KEY} errorOf={errorOf} />
      <ExpiryField error={errorOf("expires_at")} />
      <FailureNotice failure={failure} />
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={busy} disabled={refused}>
          Create key
        </Button>
      </DialogActions>
    </form>
  );
}

/** Shown instead of the form until the address is verified. */
function VerifyFirst({ email, onClose }: { email: string; onClose: () => void }) {
  const delivery = useMailDelivery();
  return (
    <>
      <p className="mb-4 text-sm leading-6">
        {delivery === "server" ? (
          <>
            Open the link we sent to <strong className="font-medium [overflow-wrap:anywhere]">{email}</strong>.
          </>
        ) : (
          <NoMail />
        )}
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

interface CreateKeyProps {
  /** True to begin with the form open. */
  readonly creating: boolean;
  /** Whether the live venue has a feed. */
  readonly liveFeed: boolean;
  /** True when the account has no keys yet. */
  readonly isFirst: boolean;
  readonly onChange: () => void;
}

/** The button that creates a key, and its dialog: the settings, then the key's text, shown once. */
export function CreateKey({ creating, liveFeed, isFirst, onChange }: CreateKeyProps) {
  const { data: overview, mutate } = usePortal<Overview>("overview");
  const [open, setOpen] = useState(creating);
  const [made, setMade] = useState<MadeKey>();
  const unverified = overview?.unverified_email ?? null;
  const liveAccess = overview?.live_access ?? true;
  const close = () => {
    setOpen(false);
    // It may have been used while its text was shown.
    if (made !== undefined) onChange();
    setMade(undefined);
    // A reload does not open it again.
    window.history.replaceState(null, "", window.location.pathname);
  };
  const show = () => {
    setOpen(true);
    // The link in the email opens in another tab, and an operator grants live access elsewhere, so this one has to check.
    if (unverified !== null || !liveAccess) void mutate();
  };
  const form = isFirst ? { ...FORM_WORDS, title: "Create your first key" } : FORM_WORDS;
  const words = made !== undefined ? MADE_WORDS : unverified === null ? form : VERIFY_WORDS;
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
          <Secret made={made} firstCalls={made.key.venue === "sandbox" || liveFeed} onDone={close} />
        ) : unverified !== null ? (
          <VerifyFirst email={unverified} onClose={close} />
        ) : (
          <CreateForm
            liveAccess={liveAccess}
            liveFeed={liveFeed}
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
