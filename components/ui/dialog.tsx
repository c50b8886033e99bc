"use client";

import { AlertDialog as Alert, Dialog as Plain } from "radix-ui";
import type { ReactNode } from "react";

const OVERLAY = "fixed inset-0 z-40 bg-black/45";
const PANEL =
  "fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-xl border border-line bg-surface p-5 shadow-xl sm:p-6";
const TITLE = "font-semibold text-lg leading-7 tracking-tight [overflow-wrap:anywhere]";
const DESCRIPTION = "mt-1 text-ink-soft text-sm leading-6";

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description: ReactNode;
  readonly children: ReactNode;
  /** True keeps it open on a click outside, for content that cannot be shown again. */
  readonly sticky?: boolean;
  readonly wide?: boolean;
  /** True takes most of a desktop screen, for editors. */
  readonly widest?: boolean;
}

/** Focuses the element with `data-autofocus`; without one, the first control. */
function focusWanted(event: Event): void {
  const wanted = (event.currentTarget as HTMLElement).querySelector<HTMLElement>("[data-autofocus]");
  if (wanted === null) return;
  event.preventDefault();
  wanted.focus();
}

/** True while a field inside shows suggestions, which Esc closes before it closes the dialog. */
const hasOpenList = () => document.activeElement?.getAttribute("aria-expanded") === "true";

/** A modal dialog: traps the focus, closes with Esc, restores the focus. */
export function Dialog(props: DialogProps) {
  const { open, onOpenChange, title, description, children, sticky = false, wide = false, widest = false } = props;
  const keep = (event: Event) => {
    if (sticky) event.preventDefault();
  };
  return (
    <Plain.Root open={open} onOpenChange={onOpenChange}>
      <Plain.Portal>
        <Plain.Overlay className={OVERLAY} />
        <Plain.Content
          className={`${PANEL} ${wide ? "sm:max-w-2xl" : ""} ${widest ? "sm:max-w-4xl" : ""}`}
          onInteractOutside={keep}
          onEscapeKeyDown={(event) => (hasOpenList() ? event.preventDefault() : keep(event))}
          onOpenAutoFocus={focusWanted}
        >
          <Plain.Title className={TITLE}>{title}</Plain.Title>
          <Plain.Description className={DESCRIPTION}>{description}</Plain.Description>
          <div className="mt-5">{children}</div>
        </Plain.Content>
      </Plain.Portal>
    </Plain.Root>
  );
}

/** A question that has to be answered first; only its own buttons and Esc close it. */
export function AlertDialog({
  open,
  onOpenChange,
  title,
  description,
  children,
}: Omit<DialogProps, "sticky" | "wide" | "widest">) {
  return (
    <Alert.Root open={open} onOpenChange={onOpenChange}>
      <Alert.Portal>
        <Alert.Overlay className={OVERLAY} />
        <Alert.Content className={PANEL}>
          <Alert.Title className={TITLE}>{title}</Alert.Title>
          <Alert.Description className={DESCRIPTION}>{description}</Alert.Description>
          <div className="mt-5">{children}</div>
        </Alert.Content>
      </Alert.Portal>
    </Alert.Root>
  );
}

/** The buttons at the end of a dialog, the main one last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2">{children}</div>;
}
