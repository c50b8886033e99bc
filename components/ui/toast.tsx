"use client";

import * as Radix from "@radix-ui/react-toast";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { buttonClass } from "./button";

/** Toasts shown at once; a new one replaces the oldest. */
const TOASTS_MAX_COUNT = 3;
const SHOWN_MS = 6_000;
/** Time to decide, and to reach the button. */
const ACTION_SHOWN_MS = 20_000;

/** The button of a toast. */
interface ToastAction {
  readonly label: string;
  /** How else the same is done, for readers who cannot reach the toast in time. */
  readonly otherwise: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action: ToastAction | undefined;
}

type Announcer = (text: string, action?: ToastAction) => void;

const Announce = createContext<Announcer>(() => {});

/** Confirms an action briefly, perhaps with the way back. Errors are shown where they occur instead. */
export function useToast(): Announcer {
  return useContext(Announce);
}

/** Where toasts of the pages inside it appear. */
export function Toaster({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const announce = useCallback<Announcer>((text, action) => {
    setToasts((shown) => {
      // Only the way back from the latest change is offered: an older one may no longer lead there.
      const kept = action === undefined ? shown : shown.filter((toast) => toast.action === undefined);
      return [...kept, { id: (shown.at(-1)?.id ?? 0) + 1, text, action }].slice(-TOASTS_MAX_COUNT);
    });
  }, []);
  const dismiss = (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id));
  return (
    <Announce value={announce}>
      <Radix.Provider label="Notice">
        {children}
        {toasts.map(({ id, text, action }) => (
          <Radix.Root
            key={id}
            duration={action === undefined ? SHOWN_MS : ACTION_SHOWN_MS}
            onOpenChange={(open) => open || dismiss(id)}
            className="flex items-center justify-between gap-4 rounded-lg border border-line bg-surface px-4 py-3 text-sm shadow-lg"
          >
            <Radix.Description className="min-w-0 [overflow-wrap:anywhere]">{text}</Radix.Description>
            {action === undefined ? null : (
              <Radix.Action
                altText={action.otherwise}
                onClick={action.run}
                className={`${buttonClass("secondary")} -my-1 ml-auto`}
              >
                {action.label}
              </Radix.Action>
            )}
            <Radix.Close
              aria-label="Dismiss"
              className="-my-1.5 -mr-2 inline-flex size-9 shrink-0 items-center justify-center rounded-md text-ink-faint hover:bg-sunken hover:text-ink pointer-coarse:size-11"
            >
              ✕
            </Radix.Close>
          </Radix.Root>
        ))}
        <Radix.Viewport className="fixed right-4 bottom-4 z-50 flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2" />
      </Radix.Provider>
    </Announce>
  );
}
