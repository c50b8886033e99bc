"use client";

import dynamic from "next/dynamic";
import { useEffect, useState } from "react";
import { useHydrated } from "../portal/time";
import { SearchIcon } from "../ui/search-icon";
import type { Offered, Reader } from "./pages";

// Loaded when it is first opened: few readers of the first page open it.
const Palette = dynamic(() => import("./palette").then((module) => module.Palette), { ssr: false });

const OPEN = "spotwire:search";

/** Opens the palette of this page with a first query. */
export function openPalette(query: string): void {
  window.dispatchEvent(new CustomEvent<string>(OPEN, { detail: query }));
}

/** Opens the command palette, like ⌘K and Ctrl K. */
export function PaletteButton({ reader, offered }: { reader: Reader; offered: Offered }) {
  const mac = useHydrated() && /Mac|iPhone|iPad/.test(navigator.platform);
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState(false);
  const [first, setFirst] = useState("");
  useEffect(() => {
    const onOpen = ({ detail }: CustomEvent<string>) => {
      setFirst(detail);
      setWanted(true);
      setOpen(true);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setWanted(true);
      setOpen((before) => !before);
    };
    window.addEventListener("keydown", onKey);
    window.addEventListener(OPEN, onOpen as EventListener);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener(OPEN, onOpen as EventListener);
    };
  }, []);
  return (
    <>
      <button
        type="button"
        aria-keyshortcuts="Meta+K Control+K"
        onClick={() => {
          setWanted(true);
          setOpen(true);
        }}
        className="flex min-h-9 pointer-coarse:min-h-11 items-center gap-2 rounded-md border border-edge bg-surface px-2.5 pointer-coarse:px-3.5 text-ink-faint text-sm hover:text-ink max-lg:size-11 max-lg:justify-center max-lg:border-transparent max-lg:bg-transparent max-lg:px-0"
      >
        <SearchIcon className="size-4 max-lg:size-5" />
        <span className="sr-only">Search</span>
        <span className="w-9 text-center font-sans text-xs max-lg:hidden">{mac ? "⌘K" : "Ctrl K"}</span>
      </button>
      {wanted ? <Palette key={first} first={first} open={open} onOpenChange={setOpen} reader={reader} offered={offered} /> : null}
    </>
  );
}
