"use client";

import { usePathname } from "next/navigation";
import { openPalette } from "../shell/palette-button";
import { SearchIcon } from "../ui/search-icon";

/** The last part of an address as words to search for. */
export function wordsOf(path: string): string {
  const last = path.split("/").findLast((part) => part !== "") ?? "";
  return last
    .replace(/\.\w+$/, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Opens the search, for what the address of this page names. */
export function SearchBox() {
  const path = usePathname();
  return (
    <button
      type="button"
      onClick={() => openPalette(wordsOf(path))}
      className="flex min-h-11 w-full max-w-md items-center gap-3 rounded-md border border-edge bg-surface px-3.5 text-left text-ink-faint text-sm hover:text-ink"
    >
      <SearchIcon className="size-4" />
      Search docs, markets and pages
    </button>
  );
}
