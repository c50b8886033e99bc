"use client";

import * as Radix from "@radix-ui/react-dialog";
import { type ReactNode, useState } from "react";

const OVERLAY = "fixed inset-0 z-40 bg-black/45";
const PANEL =
  "fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-xl border border-line bg-surface p-5 shadow-xl sm:p-6";
const TITLE = "font-semibold text-lg leading-7 tracking-tight [overflow-wrap:anywhere]";
const DESCRIPTION = "mt-1 text-ink-soft text-sm leading-6";
const CONTROL = "button, a, input, select, textarea, summary, [role=dialog], [role=alertdialog]";
const FIELD = "input:not([hidden]):enabled, select:enabled, textarea:enabled";

/** What surrounds the control that opened each open dialog, that control first. */
const openers = new WeakMap<Element, readonly Element[]>();

/** The control that has the focus, then all that surrounds it. For one in a dialog, what opened that follows. None on the server. */
function focusedAndAround(): readonly Element[] {
  if (typeof document === "undefined") return [];
  // An item of a menu goes away with it: its button stands for it.
  const menu = document.activeElement?.closest("[role=menu]");
  const focused = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : document.activeElement;
  const around: Element[] = [];
  for (let element = focused; element !== null && element !== document.body; element = element.parentElement) {
    around.push(element, ...(openers.get(element) ?? []));
  }
  return around;
}

/**
 * Focuses the control that opened a dialog or, once that is gone, the heading of what it was in: that of the page for a dialog that
 * was open from the start.
 */
function giveBack(around: readonly Element[]): void {
  const places = [...around, ...document.querySelectorAll("main")];
  for (const element of places.filter(({ isConnected }) => isConnected) as HTMLElement[]) {
    const heading = element.matches("section, main") ? element.querySelector<HTMLElement>("h1, h2, h3") : null;
    if (heading !== null) heading.tabIndex = -1;
    const next = heading ?? (element.matches(CONTROL) ? element : null);
    next?.focus({ preventScroll: true });
    if (next !== null && document.activeElement === next) return;
  }
}

/** Gives the focus back when a dialog has closed, and again if what got it goes away, as a row that was deleted does. */
function returnFocus(around: readonly Element[]): void {
  // One dialog may lead to the next, which has the focus by now.
  const open = document.querySelector("[role=dialog], [role=alertdialog]");
  if (open !== null && !open.contains(around[0] ?? null)) return;
  giveBack(around);
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return;
  const removal = new MutationObserver(() => {
    if (focused.isConnected) return;
    stop();
    if (document.activeElement === document.body) giveBack(around);
  });
  const stop = () => {
    removal.disconnect();
    document.removeEventListener("focusin", stop);
  };
  removal.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("focusin", stop);
}

/** Focuses the first field, of a group of radio buttons the chosen one. Without a field, the first control gets the focus. */
function focusFirstField(event: Event): void {
  const content = event.currentTarget as HTMLElement;
  const first = content.querySelector<HTMLInputElement>(FIELD);
  if (first === null) return;
  event.preventDefault();
  const chosen = first.type === "radio" ? content.querySelector<HTMLElement>("input[type=radio]:checked") : null;
  (chosen ?? first).focus();
}

/** True while a field inside shows suggestions, which Esc closes before it closes the dialog. */
const hasOpenList = () => document.activeElement?.getAttribute("aria-expanded") === "true";

interface ModalProps {
  readonly onOpenChange: (open: boolean) => void;
  readonly className: string;
  readonly role?: "dialog" | "alertdialog";
  readonly onEscape?: (event: KeyboardEvent) => void;
  readonly onClickOutside?: (event: Event) => void;
  /** With its title, and what it is about. */
  readonly children: ReactNode;
}

/** What lies over the page while it is there: it has the focus, and gives it back to what opened it. */
function Modal({ onOpenChange, className, role = "dialog", onEscape, onClickOutside, children }: ModalProps) {
  // While this renders, what opened it still has the focus.
  const [around] = useState(focusedAndAround);
  return (
    <Radix.Root open onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={OVERLAY} />
        <Radix.Content
          ref={(content) => {
            if (content !== null) openers.set(content, around);
          }}
          role={role}
          className={className}
          onEscapeKeyDown={onEscape}
          onInteractOutside={onClickOutside}
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            returnFocus(around);
          }}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description: ReactNode;
  readonly children: ReactNode;
  /** True keeps it open on Esc and on a click outside, for content that cannot be shown again. */
  readonly sticky?: boolean;
  readonly wide?: boolean;
  /** True takes most of a desktop screen, for editors. */
  readonly widest?: boolean;
}

function Words({ title, description, children }: Pick<DialogProps, "title" | "description" | "children">) {
  return (
    <>
      <Radix.Title className={TITLE}>{title}</Radix.Title>
      <Radix.Description className={DESCRIPTION}>{description}</Radix.Description>
      <div className="mt-5">{children}</div>
    </>
  );
}

const prevent = (event: Event) => event.preventDefault();

/** A modal dialog: traps the focus, closes with Esc, restores the focus. */
export function Dialog({ open, onOpenChange, sticky = false, wide = false, widest = false, ...words }: DialogProps) {
  if (!open) return null;
  return (
    <Modal
      onOpenChange={onOpenChange}
      className={`${PANEL} ${wide ? "sm:max-w-2xl" : ""} ${widest ? "sm:max-w-4xl" : ""}`}
      onEscape={(event) => (sticky || hasOpenList()) && event.preventDefault()}
      onClickOutside={(event) => sticky && event.preventDefault()}
    >
      <Words {...words} />
    </Modal>
  );
}

/** A question that has to be answered first; only its own buttons and Esc close it. */
export function AlertDialog({ open, onOpenChange, ...words }: Omit<DialogProps, "sticky" | "wide" | "widest">) {
  if (!open) return null;
  return (
    <Modal role="alertdialog" onOpenChange={onOpenChange} className={PANEL} onClickOutside={prevent}>
      <Words {...words} />
    </Modal>
  );
}

/** A dialog that is a search field with what it finds, without a visible title. */
export function SearchDialog({
  open,
  onOpenChange,
  title,
  children,
}: Omit<DialogProps, "description" | "sticky" | "wide" | "widest">) {
  if (!open) return null;
  return (
    <Modal
      onOpenChange={onOpenChange}
      className="fixed top-[12dvh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-surface shadow-xl"
    >
      <Radix.Title className="sr-only">{title}</Radix.Title>
      {children}
    </Modal>
  );
}

/** The buttons at the end of a dialog, the main one last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2">{children}</div>;
}
