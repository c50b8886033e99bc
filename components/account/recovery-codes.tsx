"use client";

import { callPortal } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { CodeBlock } from "../ui/code-block";
import { AlertDialog, Dialog, DialogActions } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";

/** New recovery codes, shown once. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <Dialog
      open
      sticky
      onOpenChange={onClose}
      title="Save your recovery codes"
      description="Each code signs you in once if you lose your passkeys and your authenticator app. Keep them where you keep passwords."
    >
      <CodeBlock label="Copy them now. You won't see them again.">{codes.join("\n")}</CodeBlock>
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          I've saved them
        </Button>
      </DialogActions>
    </Dialog>
  );
}

interface RenewCodesProps {
  readonly onMade: (codes: readonly string[]) => void;
  readonly onClose: () => void;
}

/** Confirms before the recovery codes are replaced. */
export function RenewCodes({ onMade, onClose }: RenewCodesProps) {
  const { busy, failure, formProps } = useSubmit<{ recovery_codes: readonly string[] }>({
    fields: [],
    send: () => callPortal("POST", "second-factors/recovery-codes"),
    done: ({ recovery_codes }) => onMade(recovery_codes),
  });
  return (
    <AlertDialog open onOpenChange={onClose} title="Make new recovery codes" description="The codes you have now stop working.">
      <form {...formProps}>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Make new codes
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}
