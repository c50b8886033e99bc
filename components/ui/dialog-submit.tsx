import type { ReactNode } from "react";
import type { ApiFailure } from "../portal/api";
import { Button } from "./button";
import { DialogActions } from "./dialog";
import { FailureNotice } from "./failure";

interface DialogSubmitProps {
  readonly failure: ApiFailure | undefined;
  readonly busy: boolean;
  readonly onCancel: () => void;
  readonly kind?: "primary" | "danger";
  readonly disabled?: boolean;
  /** The label of the submit button. */
  readonly children: ReactNode;
}

/** The end of a form in a dialog: its error, Cancel, and the submit button. */
export function DialogSubmit({ failure, busy, onCancel, kind = "primary", disabled = false, children }: DialogSubmitProps) {
  return (
    <>
      <FailureNotice failure={failure} />
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind={kind} busy={busy} disabled={disabled}>
          {children}
        </Button>
      </DialogActions>
    </>
  );
}
