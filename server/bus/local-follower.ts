import { connect } from "node:net";
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import type { Projection } from "#server/view/projection";
import type { LocalLine, VenueStatus } from "./local-publisher";
import { COLUMNS_TEXT, createRowReader } from "./wire";

/** The market process sends a line several times a second. Past this it hangs, or this process does not get to read. */
const SILENT_AFTER_MS = 3 * SECOND_MS;

/** Applies the events of the market process to the projections of an edge worker. */
export interface LocalFollower {
  /** Resolves when the projections have the newest records. */
  readonly begun: Promise<void>;
  /** Resolves with the reason when the connection has ended. It is not opened again: the worker restarts. */
  readonly lost: Promise<string>;
  /** What was last said of a venue; undefined before the first line. */
  status(venue: Venue): (VenueStatus & { readonly reachedMs: number }) | undefined;
  /** What is wrong with the feed of a venue; null when nothing is. */
  problem(venue: Venue): string | null;
  /** Number of the last line. */
  position(): number;
  stop(): void;
}

interface LocalFollowerOptions {
  readonly path: string;
  readonly projections: Readonly<Record<Venue, Pick<Projection, "view" | "recent" | "apply">>>;
  readonly clock: Clock;
}

/** Calls `onLine` for each line of a text that comes in pieces. */
function createLines(onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  let rest: string[] = [];
  return (chunk) => {
    const pieces = decoder.write(chunk).split("\n");
    for (let index = 0; index < pieces.length - 1; index += 1) {
      rest.push(pieces[index] as string);
      onLine(rest.join(""));
      rest = [];
    }
    rest.push(pieces.at(-1) as string);
  };
}

/**
 * Follows the events at a path. What was sent before the connection goes to the recent events only, then the newest records fill
 * the views, and what follows is applied as it comes. A line that is missing ends the connection.
 */
export function followLocally({ path, projections, clock }: LocalFollowerOptions): LocalFollower {
  const read = createRowReader(COLUMNS_TEXT);
  const statuses: Partial<Record<Venue, VenueStatus & { readonly reachedMs: number }>> = {};
  const filled = new Set<Venue>();
  let position: number | undefined;
  let heardMs = clock.now();
  const socket = connect(path);
  const { promise: begun, resolve: begin } = withResolver<void>();
  const { promise: lost, resolve: lose } = withResolver<string>();

  function apply({ venue, epoch, rows, state }: LocalLine): void {
    const events = rows.map((row) => read(row, epoch));
    const { view, recent, apply: publish } = projections[venue];
    if (state !== undefined) {
      view.apply(events);
      for (const { topic, seq } of events) recent.reach(epoch, topic, seq);
      if (state === "last") filled.add(venue);
      if (filled.size === VENUES.length) begin();
    } else if (filled.has(venue)) publish(events);
    else recent.apply(events);
  }

  function take(text: string): void {
    if (socket.destroyed) return;
    const line = JSON.parse(text) as LocalLine;
    heardMs = clock.now();
    const { n, venue, reachedMs, state, status = statuses[venue] } = line;
    // Before the newest records only lines with events come again, so that numbers are left out.
    const due = state !== undefined || filled.size < VENUES.length || position === undefined || n === position + 1;
    if (!due) return void socket.destroy(new Error(`line ${n} follows line ${position}`));
    position = n;
    apply(line);
    if (status !== undefined) statuses[venue] = { ...status, reachedMs };
  }

  socket.on("data", createLines(take));
  socket.on("error", (error) => lose(error.message));
  socket.once("close", () => lose("the market process closed the connection"));
  return {
    begun,
    lost,
    status: (venue) => statuses[venue],
    problem(venue) {
      const silentMs = clock.now() - heardMs;
      if (silentMs > SILENT_AFTER_MS) return `no events from the market process for ${Math.floor(silentMs / SECOND_MS)} s`;
      return statuses[venue]?.problem ?? null;
    },
    position: () => position ?? 0,
    stop: () => void socket.destroy(),
  };
}

function withResolver<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
