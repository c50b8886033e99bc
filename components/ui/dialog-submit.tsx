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
  /** What the button that sends the form says. */
  readonly children: ReactNode;
}

/** The end of a form in a dialog: why it was refused, the way out, and what sends it. */
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
