"use client";

import { useRef, useState } from "react";
import { type ApiFailure, callPortal } from "../portal/api";
import { Button } from "../ui/button";
import { useToast } from "../ui/toast";

/** What can be done with an import. */
export type ImportChange = "undo" | "redo";

const CHANGES = {
  undo: {
    label: "Undo",
    effect: "Takes out what it stored, and restores what it overwrote. Clients receive the result at once.",
    done: "is undone.",
    back: { change: "redo", label: "Put it back" },
  },
  redo: {
    label: "Redo",
    effect: "Shows its klines and ticks again. Clients receive the result at once.",
    done: "is put back.",
    back: { change: "undo", label: "Undo again" },
  },
} as const satisfies Record<ImportChange, object>;

const nameOf = (change: ImportChange, number: number) => `${CHANGES[change].label} import ${number}`;

/** Why the last change of an import was refused. */
export interface Refusal {
  readonly number: number;
  readonly failure: ApiFailure;
}

/** Why the last change of this import was refused, for a cell of its row that has room. */
export function Refused({ refusal, number }: { refusal: Refusal | undefined; number: number | null }) {
  if (refusal === undefined || refusal.number !== number) return null;
  return (
    <p role="alert" className="text-danger text-xs leading-5 [overflow-wrap:anywhere]">
      {refusal.failure.detail}
    </p>
  );
}

/** What a list of imports gives to the buttons of its rows. */
export interface Changing {
  /** Reads again what the page shows of the import. The button is busy until then, so that it never offers what was just done. */
  readonly onDone: (change: ImportChange) => Promise<unknown>;
  /** Called with undefined when the next change begins. */
  readonly onRefused: (refusal: Refusal | undefined) => void;
}

interface ChangeImportProps extends Changing {
  readonly number: number;
  /** What can be done with it now; null for nothing. */
  readonly change: ImportChange | null;
}

/** The button that undoes an import or puts it back. Each takes the other back, so that neither asks first. */
export function ChangeImport({ number, change, onDone, onRefused }: ChangeImportProps) {
  const announce = useToast();
  const button = useRef<HTMLButtonElement>(null);
  const [busy, setBusy] = useState(false);

  async function run(wanted: ImportChange): Promise<void> {
    setBusy(true);
    onRefused(undefined);
    const result = await callPortal("POST", `admin/imports/${number}/${wanted}`);
    if ("data" in result) {
      const { done, back } = CHANGES[wanted];
      announce(`Import ${number} ${done}`, {
        label: back.label,
        otherwise: `Press ${nameOf(back.change, number)} in the list of imports.`,
        run: () => {
          button.current?.focus();
          void run(back.change);
        },
      });
      await onDone(wanted);
    } else if (button.current === null) {
      // The page has gone on.
      announce(result.failure.detail);
    } else {
      onRefused({ number, failure: result.failure });
    }
    setBusy(false);
  }

  if (change === null) return null;
  return (
    <Button
      ref={button}
      busy={busy}
      title={CHANGES[change].effect}
      aria-label={nameOf(change, number)}
      // The second click of a double click could meet the opposite.
      onClick={({ detail }) => detail > 1 || void run(change)}
    >
      {CHANGES[change].label}
    </Button>
  );
}
