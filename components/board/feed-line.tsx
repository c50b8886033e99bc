"use client";

import type { Venue } from "#lib/contract/primitives";
import { TickInstant, useNow } from "../portal/time";
import type { BoardStore } from "./board-store";
import { type Feed, troubleOf } from "./feed";
import { useFeed } from "./use-board";

const LOOKS: Record<Feed["by"], { readonly word: string; readonly colour: string }> = {
  page: { word: "Not streaming", colour: "bg-neutral" },
  stream: { word: "Streaming", colour: "bg-positive" },
  polling: { word: "Polling", colour: "bg-warning" },
  none: { word: "Disconnected", colour: "bg-warning" },
};

/** Where prices currently come from, in a word. */
export function FeedWord({ feed }: { feed: Feed }) {
  const { word, colour } = LOOKS[feed.by];
  return (
    <p className="flex items-center gap-2 font-medium" data-feed={feed.by}>
      <span aria-hidden="true" className={`size-2 rounded-full ${colour}`} />
      {word}
    </p>
  );
}

/** The header of the board: the source of its prices, and the time of the newest. */
export function FeedLine({ store }: { store: BoardStore }) {
  const feed = useFeed(store);
  // Reads the newest price once per second: updating on every tick would flicker.
  useNow();
  const last = store.lastMs();
  return (
    <div className="flex h-12 items-center justify-between gap-4 px-4 text-sm sm:px-5">
      <FeedWord feed={feed} />
      {last === null ? null : (
        <p className="text-ink-faint text-xs">
          last tick{" "}
          <span className="font-mono">
            <TickInstant at={new Date(last).toISOString()} />
          </span>
        </p>
      )}
    </div>
  );
}

const NOTES: Readonly<Record<Venue, string>> = {
  live: "Live venue: prices of its provider.",
  sandbox: "Sandbox venue: synthetic prices, 24/7, identical for every installation with the same seed.",
};

interface FeedNoteProps {
  readonly store: BoardStore;
  readonly venue: Venue;
}

/** The footer of the board: what these prices are, or what is wrong. Its height is fixed, so the layout never shifts. */
export function FeedNote({ store, venue }: FeedNoteProps) {
  const trouble = troubleOf(useFeed(store));
  return (
    <p
      role="status"
      className={`flex min-h-14 items-center border-line border-t px-4 py-2 text-xs leading-5 sm:px-5 ${trouble === undefined ? "text-ink-faint" : "text-warning"}`}
    >
      {trouble ?? NOTES[venue]}
    </p>
  );
}
