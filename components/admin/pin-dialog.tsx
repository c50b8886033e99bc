"use client";

import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { AlertDialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { useToast } from "../ui/toast";

interface PinDialogProps {
  /** The provider to pin; null releases the one that is. */
  readonly provider: string | null;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Confirms before a provider is pinned or released. */
export function PinDialog({ provider, onClose, onChange }: PinDialogProps) {
  const announce = useToast();
  const { busy, failure, formProps } = useSubmit({
    fields: ["provider"],
    send: () => callPortal("PUT", "admin/feeds/pin", { provider }),
    done: () => {
      onClose();
      onChange();
      announce(provider === null ? "No provider is pinned." : `Provider ${provider} is pinned.`);
    },
  });
  return (
    <AlertDialog
      open
      onOpenChange={onClose}
      title={provider === null ? "Release the pin" : `Pin ${provider}`}
      description={
        provider === null
          ? "For each instrument, the first provider that was well for five minutes speaks again."
          : "It speaks at once for all instruments that it offers, and stays even if its connection is lost, until you release it."
      }
    >
      <form {...formProps}>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind="primary">
          {provider === null ? "Release" : "Pin provider"}
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}
