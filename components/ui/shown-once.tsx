import type { ReactNode } from "react";
import { Button } from "./button";
import { CodeBlock } from "./code-block";
import { DialogActions } from "./dialog";

interface ShownOnceProps {
  readonly text: string;
  /** What to do with it. */
  readonly children?: ReactNode;
  /** What stands beside the button that closes. */
  readonly action?: ReactNode;
  readonly onDone: () => void;
}

/** The content of a dialog that shows a secret once: its text to copy, what to do with it, and the button that closes. */
export function ShownOnce({ text, children, action, onDone }: ShownOnceProps) {
  return (
    <>
      <CodeBlock label="Copy it now. You won't see it again.">{text}</CodeBlock>
      {children}
      <DialogActions>
        {action}
        <Button kind="primary" onClick={onDone}>
          I've saved it
        </Button>
      </DialogActions>
    </>
  );
}
