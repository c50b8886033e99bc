import type { Item } from "fumadocs-core/page-tree";
import Link from "next/link";
import { timeText } from "../portal/date-format";

interface DocsFooterProps {
  /** YYYY-MM-DD; undefined for a page generated from the contract. */
  readonly updated: string | undefined;
  readonly previous: Item | undefined;
  readonly next: Item | undefined;
}

function Neighbour({ item, word }: { item: Item; word: "Previous" | "Next" }) {
  return (
    <Link
      prefetch={false}
      href={item.url}
      rel={word === "Next" ? "next" : "prev"}
      className={`block min-w-0 flex-1 rounded-lg border border-line bg-surface px-4 py-3 hover:bg-sunken ${word === "Next" ? "text-right" : ""}`}
    >
      <span className="block text-ink-faint text-xs leading-5">{word}</span>
      <span className="block font-medium text-sm leading-6 [overflow-wrap:anywhere]">{item.name}</span>
    </Link>
  );
}

/** The footer of a page: the date of its last change, and links to its neighbours. */
export function DocsFooter({ updated, previous, next }: DocsFooterProps) {
  return (
    <footer className="mt-12 border-line border-t pt-6">
      <p className="text-ink-faint text-sm">
        {updated === undefined ? (
          "Generated from this version of the service."
        ) : (
          <>
            Last edited on <time dateTime={updated}>{timeText(updated, "longDay", "UTC")}</time>.
          </>
        )}
      </p>
      <nav aria-label="Previous and next" className="mt-4 flex gap-4">
        {previous === undefined ? null : <Neighbour item={previous} word="Previous" />}
        {next === undefined ? null : <Neighbour item={next} word="Next" />}
      </nav>
    </footer>
  );
}
