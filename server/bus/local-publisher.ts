import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import { repeat } from "#lib/repeat";
import type { MarketEvent } from "#server/events/event";
import { type Row, toRow } from "./wire";

/** Events are kept this long, so that a worker that starts can serve clients that were briefly disconnected. */
const KEPT_MS = 60_000;
const KEPT_MAX_BYTES = 32 * 1_048_576;
/** Past this a worker is cut off: it reads too slowly. What is kept, and the newest records, fit twice. */
const QUEUE_MAX_BYTES = 3 * KEPT_MAX_BYTES;
/** Without events a line is sent this often, so that a worker knows how far the venue has come. */
const HEARTBEAT_MS = 250;
/** Records of one line. */
const LINE_MAX_ROWS = 2_000;

/** What is known of a venue besides its events. */
export interface VenueStatus {
  /** True where the feed sets the time of the venue. */
  readonly keepsTime: boolean;
  /** What is wrong with the feed, null when nothing is. */
  readonly problem: string | null;
  /** Who speaks for which ticker; absent where that is not shown. */
  readonly speakers?: Readonly<Record<string, string | null>> | undefined;
}

/** A line of the channel: events of a venue, or, at the begin of a connection, its newest records. */
export interface LocalLine {
  /** Counts the lines with events, from 1. */
  readonly n: number;
  readonly venue: Venue;
  readonly epoch: string;
  readonly rows: readonly Row[];
  readonly reachedMs: number;
  /** Absent where it did not change. */
  readonly status?: VenueStatus;
  /** Newest records; the `last` line of them ends the begin of the connection. */
  readonly state?: "more" | "last";
}

/** A venue as it is published. */
export interface PublishedVenue {
  epoch(): string;
  /** The events up to here were published, Unix ms. */
  reachedMs(): number;
  status(): VenueStatus;
  /** The newest records, with the last sequence of their topics. */
  state(): readonly MarketEvent[];
}

interface LocalPublisherOptions {
  /** Path of the socket; anyone who can open it reads the events. */
  readonly path: string;
  readonly venues: Readonly<Record<Venue, PublishedVenue>>;
  readonly clock: Clock;
  /** Called when a reader was cut off because it reads too slowly. */
  readonly onTooSlow: () => void;
  readonly queueMaxBytes?: number;
}

/** Sends the events of the venues of this process to its edge workers. */
export interface LocalPublisher {
  /** Queues events for every worker, in order, without waiting. */
  publish(venue: Venue, events: readonly MarketEvent[]): void;
  /** Number of the last line. */
  position(): number;
  stop(): Promise<void>;
}

const encode = (line: LocalLine) => Buffer.from(`${JSON.stringify(line)}\n`);

/** Opens the channel. Events of one turn of the event loop make one line, which is encoded once for all workers. */
export async function startLocalPublisher(options: LocalPublisherOptions): Promise<LocalPublisher> {
  const { path, venues, clock, onTooSlow, queueMaxBytes = QUEUE_MAX_BYTES } = options;
  const stopping = new AbortController();
  const readers = new Set<Socket>();
  const waiting: Record<Venue, Row[]> = { live: [], sandbox: [] };
  const epochs: Record<Venue, string> = { live: "", sandbox: "" };
  const told: Record<Venue, string> = { live: "", sandbox: "" };
  let kept: { readonly atMs: number; readonly line: Buffer }[] = [];
  let keptBytes = 0;
  let scheduled = false;
  let n = 0;

  function send(reader: Socket, line: Buffer): void {
    reader.write(line);
    if (reader.writableLength <= queueMaxBytes) return;
    reader.destroy();
    onTooSlow();
  }

  function keep(line: Buffer): void {
    const nowMs = clock.now();
    kept.push({ atMs: nowMs, line });
    keptBytes += line.length;
    let old = 0;
    for (; old < kept.length; old += 1) {
      const { atMs, line: oldest } = kept[old] as (typeof kept)[number];
      if (keptBytes <= KEPT_MAX_BYTES && atMs > nowMs - KEPT_MS) break;
      keptBytes -= oldest.length;
    }
    if (old > 0) kept = kept.slice(old);
  }

  /** Sends what waits of a venue, and how far it has come. */
  function tell(venue: Venue, status?: VenueStatus): void {
    const rows = waiting[venue];
    waiting[venue] = [];
    n += 1;
    const line = encode({
      n,
      venue,
      epoch: epochs[venue],
      rows,
      reachedMs: venues[venue].reachedMs(),
      ...(status && { status }),
    });
    for (const reader of readers) send(reader, line);
    if (rows.length > 0) keep(line);
  }

  function flush(): void {
    scheduled = false;
    for (const venue of VENUES) if (waiting[venue].length > 0) tell(venue);
  }

  function beat(): void {
    flush();
    for (const venue of VENUES) {
      const status = venues[venue].status();
      const text = JSON.stringify(status);
      const changed = text !== told[venue];
      told[venue] = text;
      tell(venue, changed ? status : undefined);
    }
  }

  /** Begins a connection: what was sent lately, then the newest records; then come the events. */
  function begin(reader: Socket): void {
    flush();
    for (const { line } of kept) reader.write(line);
    for (const venue of VENUES) {
      const about = venues[venue];
      const all = about.state().map(toRow);
      const rest = { n, venue, epoch: about.epoch(), reachedMs: about.reachedMs(), status: about.status() };
      for (let at = 0; at === 0 || at < all.length; at += LINE_MAX_ROWS) {
        const rows = all.slice(at, at + LINE_MAX_ROWS);
        const last = at + LINE_MAX_ROWS >= all.length;
        send(reader, encode({ ...rest, rows, state: last ? "last" : "more" }));
      }
    }
    if (!reader.destroyed) readers.add(reader);
  }

  const server = createServer((reader) => {
    reader.on("error", () => undefined);
    reader.once("close", () => readers.delete(reader));
    begin(reader);
  });
  server.listen(path);
  await once(server, "listening");
  const beating = repeat({ clock, signal: stopping.signal, pause: HEARTBEAT_MS }, beat);

  return {
    publish(venue, events) {
      const [first] = events;
      if (first === undefined) return;
      // The events of a line are of one epoch.
      if (first.epoch !== epochs[venue] && waiting[venue].length > 0) tell(venue);
      epochs[venue] = first.epoch;
      for (const event of events) waiting[venue].push(toRow(event));
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    },
    position() {
      flush();
      return n;
    },
    async stop() {
      stopping.abort();
      await beating;
      for (const reader of readers) reader.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
