"use client";

import { useState } from "react";
import { callPortal } from "../portal/api";
import { Button } from "../ui/button";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { useToast } from "../ui/toast";

/** What can be done with an import. */
export type ImportChange = "undo" | "redo";

const CHANGES = {
  undo: {
    label: "Undo…",
    title: (number: number) => `Undo import ${number}`,
    action: "Undo import",
    description:
      "Removes the klines that it added, with their ticks, and restores those that it overwrote. Clients receive the result at once. Its files can be imported again, and it can be put back.",
    done: (number: number) => `Import ${number} is undone.`,
  },
  redo: {
    label: "Redo…",
    title: (number: number) => `Redo import ${number}`,
    action: "Redo import",
    description: "Shows its klines and ticks again, as if it had not been undone. Clients receive the result at once.",
    done: (number: number) => `Import ${number} is put back.`,
  },
} as const satisfies Record<ImportChange, object>;

interface ChangeImportProps {
  readonly number: number;
  /** What can be done with it now; null for nothing. */
  readonly change: ImportChange | null;
  readonly onDone: () => void;
}

/** The button that undoes an import or puts it back, with its confirmation dialog. */
export function ChangeImport({ number, change, onDone }: ChangeImportProps) {
  const announce = useToast();
  /** The change that the open dialog confirms. A new report does not affect it. */
  const [open, setOpen] = useState<ImportChange | null>(null);
  const shown = open ?? change;
  if (shown === null) return null;
  const { label, title, action, description, done } = CHANGES[shown];
  return (
    <>
      <Button onClick={() => setOpen(shown)} aria-label={title(number)}>
        {label}
      </Button>
      {open === null ? null : (
        <ConfirmDialog
          title={title(number)}
          description={description}
          word={String(number)}
          action={action}
          send={() => callPortal("POST", `admin/imports/${number}/${open}`)}
          onDone={() => {
            setOpen(null);
            onDone();
            announce(done(number));
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}
