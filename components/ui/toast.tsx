"use client";

import * as Radix from "@radix-ui/react-toast";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

/** Toasts shown at once; a new one replaces the oldest. */
const TOASTS_MAX_COUNT = 3;
const SHOWN_MS = 6_000;

interface Toast {
  readonly id: number;
  readonly text: string;
}

const Announce = createContext<(text: string) => void>(() => {});

/** Confirms an action briefly. Errors are shown where they occur instead. */
export function useToast(): (text: string) => void {
  return useContext(Announce);
}

/** Where toasts of the pages inside it appear. */
export function Toaster({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const announce = useCallback((text: string) => {
    setToasts((shown) => [...shown, { id: (shown.at(-1)?.id ?? 0) + 1, text }].slice(-TOASTS_MAX_COUNT));
  }, []);
  const dismiss = (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id));
  return (
    <Announce value={announce}>
      <Radix.Provider duration={SHOWN_MS} label="Notice">
        {children}
        {toasts.map(({ id, text }) => (
          <Radix.Root
            key={id}
            onOpenChange={(open) => open || dismiss(id)}
            className="flex items-center justify-between gap-4 rounded-lg border border-line bg-surface px-4 py-3 text-sm shadow-lg"
          >
            <Radix.Description className="min-w-0 [overflow-wrap:anywhere]">{text}</Radix.Description>
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
