"use client";

import * as Radix from "@radix-ui/react-tooltip";
import type { ReactNode } from "react";

const OPEN_DELAY_MS = 250;

/** A word with an explanation on hover and on focus. */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={OPEN_DELAY_MS}>
      <Radix.Root>
        <Radix.Trigger type="button" className="cursor-help underline decoration-dotted underline-offset-4">
          {children}
        </Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            sideOffset={6}
            collisionPadding={16}
            className="z-50 max-w-72 rounded-md bg-ink px-2.5 py-1.5 text-canvas text-xs leading-5 shadow-lg"
          >
            {text}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
