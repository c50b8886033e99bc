"use client";

import { memo, useState } from "react";
import { timeText } from "../portal/date-format";
import { useTimeZone } from "../portal/time";
import { Button } from "../ui/button";
import { CONTROL } from "../ui/field";
import type { LogEntry, StreamView } from "./stream-state";

/** One message: what is new in it, in a line that expands to the message as transferred. */
const Line = memo(function Line({ entry }: { entry: LogEntry }) {
  const [open, setOpen] = useState(false);
  const timeZone = useTimeZone();
  const sent = entry.direction === "sent";
  return (
    <li className="border-line border-b last:border-b-0">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-baseline gap-3 px-3 py-1 text-left hover:bg-line/40 pointer-coarse:py-2.5"
      >
        <time dateTime={new Date(entry.at).toISOString()} className="shrink-0 text-ink-faint tabular-nums max-sm:hidden">
          {timeText(entry.at, "millisecond", timeZone)}
        </time>
        <span className={`w-24 shrink-0 truncate ${sent ? "text-accent" : "text-ink-soft"}`}>
          <span aria-hidden="true">{sent ? "↑ " : "↓ "}</span>
          <span className="sr-only">{sent ? "sent " : "received "}</span>
          {entry.type}
        </span>
        <span className={open ? "min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]" : "min-w-0 truncate"}>
          {open ? entry.text : entry.brief}
        </span>
      </button>
    </li>
  );
});

interface StreamLogProps {
  readonly view: StreamView;
  readonly onClear: () => void;
}

/** The messages as transferred, newest first, with a filter and buttons to pause and clear. */
export function StreamLog({ view, onClear }: StreamLogProps) {
  const [filter, setFilter] = useState("");
  const [held, setHeld] = useState<readonly LogEntry[]>();
  const entries = held ?? view.entries;
  const wanted = filter.trim().toLowerCase();
  const shown = entries.filter(({ text }) => text.toLowerCase().includes(wanted)).toReversed();
  return (
    <section aria-label="Messages">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <input
          aria-label="Filter messages"
          placeholder="Filter, for example heartbeat or XAUUSD"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className={`${CONTROL} min-w-0 flex-1`}
        />
        <Button aria-pressed={held !== undefined} onClick={() => setHeld(held === undefined ? view.entries : undefined)}>
          {held === undefined ? "Pause" : "Resume"}
        </Button>
        <Button
          onClick={() => {
            if (held !== undefined) setHeld([]);
            onClear();
          }}
        >
          Clear
        </Button>
      </div>
      <ol
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
        tabIndex={0}
        aria-label="Log"
        className="h-80 overflow-auto rounded-lg border border-line bg-sunken font-mono text-xs leading-5"
      >
        {shown.map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
      </ol>
      <p className="mt-2 text-ink-faint text-xs leading-5 tabular-nums">
        {view.received} received{shown.length < view.received ? `, ${shown.length} shown` : ""}
        {held === undefined ? "" : ", paused"}
      </p>
    </section>
  );
}
