import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "#lib/clock";
import { startRepeating } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import type { MarketEvent } from "#server/events/event";
import { type Cursor, type Entry, newestOf } from "./cursor";
import type { Appender, EventLog, Follower, Leading } from "./event-log";
import { COLUMNS_TEXT, createRowReader, type Header, type Row, toRow } from "./wire";

/** Events are kept this long, so that a process that starts can serve clients that were briefly disconnected. */
const KEPT_MS = 60_000;
const KEPT_MAX_BYTES = 16 * 1_048_576;
/** Past this a follower is cut off: it reads too slowly. What is kept, and the newest records, fit twice. */
const QUEUE_MAX_BYTES = 3 * KEPT_MAX_BYTES;
/** Without events a line is sent this often, so that a follower knows how far the venue has come. */
const HEARTBEAT_MS = 250;
/** Records of one line. */
const LINE_MAX_ROWS = 2_000;
/** Past this the leader hangs, or this process does not get to read. */
const SILENT_AFTER_MS = 3 * SECOND_MS;

/** An entry, or a part of the newest records, with which a connection begins; the `last` one ends them. */
export interface SocketLine {
  readonly header: Header;
  readonly rows: readonly Row[];
  readonly newest?: "more" | "last";
}

interface SocketLogOptions {
  /** Anyone who can open it reads the events. */
  readonly path: string;
  readonly clock: Clock;
  /** Called when a follower was cut off because it reads too slowly. */
  readonly onTooSlow?: () => void;
  readonly queueMaxBytes?: number;
}

const encode = (line: SocketLine) => Buffer.from(`${JSON.stringify(line)}\n`);

/** A log from one process to others of the same machine. Its leader is the process that listens at the path. */
export function createSocketLog(options: SocketLogOptions): EventLog {
  return { inProcess: false, lead: (leading) => listenFor(leading, options), follow: (cursor) => readFrom(cursor, options) };
}

/** What was appended lately, encoded. */
function createKept(clock: Clock) {
  let kept: { readonly atMs: number; readonly line: Buffer }[] = [];
  let bytes = 0;
  return {
    lines: () => kept.map(({ line }) => line),
    add(line: Buffer): void {
      const nowMs = clock.now();
      kept.push({ atMs: nowMs, line });
      bytes += line.length;
      let old = 0;
      for (; old < kept.length; old += 1) {
        const { atMs, line: oldest } = kept[old] as (typeof kept)[number];
        if (bytes <= KEPT_MAX_BYTES && atMs > nowMs - KEPT_MS) break;
        bytes -= oldest.length;
      }
      if (old > 0) kept = kept.slice(old);
    },
  };
}

/** Events of one turn of the event loop make one line, which is encoded once for all followers. */
async function listenFor(leading: Leading, options: SocketLogOptions): Promise<Appender> {
  const { path, clock, onTooSlow, queueMaxBytes = QUEUE_MAX_BYTES } = options;
  const { token, standing, newest } = leading;
  const followers = new Set<Socket>();
  const kept = createKept(clock);
  /** Read with every heartbeat: composing it for each line would cost more than the line. */
  let told = standing();
  let waiting: Row[] = [];
  let waitingEpoch = "";
  let waitingReachedMs = 0;
  let scheduled = false;
  let n = 0;

  function send(follower: Socket, line: Buffer): void {
    // One that was cut off, and whose end is not reported yet.
    if (follower.destroyed) return;
    follower.write(line);
    if (follower.writableLength <= queueMaxBytes) return;
    follower.destroy();
    onTooSlow?.();
  }

  function flush(): void {
    scheduled = false;
    if (waiting.length === 0) return;
    n += 1;
    const header = { ...told, token, n, epoch: waitingEpoch, reachedMs: waitingReachedMs };
    const line = encode({ header, rows: waiting });
    waiting = [];
    for (const follower of followers) send(follower, line);
    kept.add(line);
  }

  function beat(): void {
    flush();
    told = standing();
    const line = encode({ header: { ...told, token, n }, rows: [] });
    for (const follower of followers) send(follower, line);
  }

  /** Begins a connection: what was appended lately, then the newest records; then come the events. */
  function begin(follower: Socket): void {
    flush();
    for (const line of kept.lines()) follower.write(line);
    const rows = newest().map(toRow);
    const header = { token, n, ...standing() };
    for (let at = 0; at === 0 || at < rows.length; at += LINE_MAX_ROWS) {
      const isLast = at + LINE_MAX_ROWS >= rows.length;
      send(follower, encode({ header, rows: rows.slice(at, at + LINE_MAX_ROWS), newest: isLast ? "last" : "more" }));
    }
    if (!follower.destroyed) followers.add(follower);
  }

  const server: Server = createServer((follower) => {
    follower.on("error", () => undefined);
    follower.once("close", () => followers.delete(follower));
    begin(follower);
  });
  server.listen(path);
  await once(server, "listening");
  const beating = startRepeating({ clock, pause: HEARTBEAT_MS }, beat);

  return {
    before: undefined,
    caughtUp: true,
    begin: beat,
    append(events, reachedMs) {
      const [first] = events;
      if (first === undefined) return;
      // The events of a line are of one epoch.
      if (first.epoch !== waitingEpoch) flush();
      waitingEpoch = first.epoch;
      waitingReachedMs = reachedMs;
      for (const event of events) waiting.push(toRow(event));
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    },
    async appended() {
      flush();
      return true;
    },
    async stop() {
      flush();
      await beating.stop();
      for (const follower of followers) follower.destroySoon();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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

/** Follows over one connection. When that ends, so does the follower: the process that leads is gone, or this one reads too slowly. */
function readFrom(cursor: Cursor, { path, clock }: SocketLogOptions): Follower {
  const read = createRowReader(COLUMNS_TEXT);
  const isEmpty = cursor.header() === undefined;
  /** What came before the newest records. */
  const past: Entry[] = [];
  let newest: MarketEvent[] | undefined = [];
  let receivedMs = clock.now();
  let resolveBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    resolveBegun = resolve;
  });
  const socket = connect(path);
  const ended = new Promise<string>((resolve) => {
    socket.on("error", (error) => resolve(error.message));
    socket.once("close", () => resolve("the process that leads closed the connection"));
  });

  /** Goes on from what is kept, if it reaches back to the cursor; else from the newest records. */
  function start(header: Header, events: readonly MarketEvent[]): void {
    const all = newestOf(header, events);
    if (isEmpty) {
      cursor.fill(
        all,
        past.map((entry) => entry.events),
      );
    } else {
      for (const entry of past) if (cursor.placeOf(entry.header) === "next") cursor.take(entry);
      cursor.bridge(all);
    }
    past.length = 0;
    newest = undefined;
    resolveBegun();
  }

  function take(text: string): void {
    if (socket.destroyed) return;
    const { header, rows, newest: part } = JSON.parse(text) as SocketLine;
    receivedMs = clock.now();
    const events = rows.map((row) => read(row, header.epoch));
    if (part !== undefined) newest?.push(...events);
    if (part === "last") start(header, newest ?? []);
    else if (part === undefined && newest !== undefined) past.push({ header, events });
    else if (part === undefined) {
      const known = cursor.header();
      if (cursor.placeOf(header) !== "gap") cursor.take({ header, events });
      else socket.destroy(new Error(`entry ${header.n} follows entry ${known?.n}`));
    }
  }

  socket.on("data", createLines(take));
  return {
    begun,
    ended,
    standing: cursor.header,
    problem() {
      const silentMs = clock.now() - receivedMs;
      if (silentMs > SILENT_AFTER_MS) return `no events from the market process for ${Math.floor(silentMs / SECOND_MS)} s`;
      return cursor.header()?.away ?? null;
    },
    async stop() {
      socket.destroy();
      await ended;
    },
  };
}
