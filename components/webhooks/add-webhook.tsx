"use client";

import Link from "next/link";
import { useState } from "react";
import { WEBHOOK_URL_MAX_CHARACTERS } from "#lib/contract/limits";
import type { WebhookInfo } from "#lib/contract/webhooks";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { ShownOnce } from "../ui/shown-once";

interface Added {
  readonly webhook: WebhookInfo;
  readonly secret: string;
}

function AddForm({ onAdded, onCancel }: { onAdded: (added: Added) => void; onCancel: () => void }) {
  const { busy, errorOf, failure, formProps } = useSubmit<Added>({
    fields: ["url"],
    form: "webhook",
    send: (form) => callPortal("POST", "webhooks", { url: textOf(form, "url") }),
    done: onAdded,
  });
  return (
    <form {...formProps} className="space-y-5">
      <TextField
        label="URL"
        name="url"
        type="url"
        required
        autoComplete="off"
        maxLength={WEBHOOK_URL_MAX_CHARACTERS}
        placeholder="https://hooks.example.com/spotwire"
        hint="A public https:// URL. Redirects are not followed."
        error={errorOf("url")}
      />
      <DialogSubmit failure={failure} busy={busy} onCancel={onCancel}>
        Add webhook
      </DialogSubmit>
    </form>
  );
}

/** Adds a webhook, then shows its secret once. */
export function AddWebhook({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const [added, setAdded] = useState<Added>();
  if (added !== undefined)
    return (
      <Dialog open sticky onOpenChange={onClose} title="Signing secret" description="It signs everything sent to this webhook.">
        <ShownOnce text={added.secret} onDone={onClose}>
          <p className="mt-4 text-ink-soft text-sm leading-6">
            <Link href="/docs/webhooks#verify-the-signature" className="text-accent underline">
              Verify the signature
            </Link>{" "}
            of each request with it, then send a test from the list.
          </p>
        </ShownOnce>
      </Dialog>
    );
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add a webhook"
      description="It gets a POST request about incidents, and about alerts of your organisation."
    >
      <AddForm
        onCancel={onClose}
        onAdded={(done) => {
          setAdded(done);
          onAdded();
        }}
      />
    </Dialog>
  );
}
