"use client";

import { type ReactNode, useState } from "react";
import type { ApiResult } from "../portal/api";
import { useSubmit } from "../portal/use-submit";
import { AlertDialog } from "./dialog";
import { DialogSubmit } from "./dialog-submit";
import { TextField } from "./field";

interface ConfirmDialogProps {
  readonly title: string;
  readonly description: ReactNode;
  /** The text to type before the button can be pressed. */
  readonly word: string;
  /** The label of the button. */
  readonly action: string;
  /** Performs the action; the typed text is in "confirm". */
  readonly send: (form: FormData) => Promise<ApiResult<object>>;
  readonly onDone: () => void;
  readonly onClose: () => void;
  /** Further fields of the form. */
  readonly children?: ReactNode;
}

/** Confirms an action that reaches everybody or cannot be undone: the button works once a word was typed. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, description, word, action, send, onDone, onClose, children } = props;
  const [typed, setTyped] = useState("");
  const { busy, errorOf, failure, formProps } = useSubmit({ fields: ["confirm"], send, done: onDone });
  return (
    <AlertDialog open onOpenChange={onClose} title={title} description={description}>
      <form {...formProps} className="space-y-4">
        {children}
        <TextField
          label={
            <>
              Type{" "}
              <code className="select-all rounded bg-sunken px-1 font-mono text-[13px] [overflow-wrap:anywhere]">{word}</code> to
              confirm
            </>
          }
          name="confirm"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          error={errorOf("confirm")}
        />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind="danger" disabled={typed.trim() !== word}>
          {action}
        </DialogSubmit>
      </form>
    </AlertDialog>
  );
}
