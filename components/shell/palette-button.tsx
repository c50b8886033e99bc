"use client";

import dynamic from "next/dynamic";
import { useEffect, useState } from "react";

// Loaded when it is first opened: few readers of the first page ever do.
const Palette = dynamic(() => import("./palette").then((module) => module.Palette), { ssr: false });

/** Opens the command palette, as ⌘K and Ctrl K do. */
export function PaletteButton({ signedIn }: { signedIn: boolean }) {
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setWanted(true);
      setOpen((before) => !before);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        aria-label="Search"
        aria-keyshortcuts="Meta+K Control+K"
        onClick={() => {
          setWanted(true);
          setOpen(true);
        }}
        className="flex min-h-8 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-ink-faint text-sm hover:text-ink"
      >
        <svg viewBox="0 0 16 16" aria-hidden="true" className="size-4" fill="none" stroke="currentColor" strokeWidth="1.5">
          <circle cx="7" cy="7" r="4.25" />
          <path d="m10.5 10.5 3 3" strokeLinecap="round" />
        </svg>
        <kbd className="font-sans text-xs max-sm:hidden">⌘K</kbd>
      </button>
      {wanted ? <Palette open={open} onOpenChange={setOpen} signedIn={signedIn} /> : null}
    </>
  );
}
