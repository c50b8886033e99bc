import { setImmediate as nextTurn } from "node:timers/promises";
import type { Client, Notification, Pool } from "pg";
import { z } from "zod";
import type { Clock } from "#lib/clock";
import { VENUES } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import type { Logger } from "#lib/log";

/** PostgreSQL channel that every process of an installation listens on. */
const CHANNEL = "spotwire_control";
/**
 * A connection that does not answer is taken for lost after interval and timeout together: a revocation that it would have
 * told is late by no more than that.
 */
const PING_INTERVAL_MS = 250;
const PING_TIMEOUT_MS = 700;
const RETRY_FIRST_MS = 100;
const RETRY_LONGEST_MS = 5_000;

const venue = z.enum(VENUES);

/**
 * What was changed behind the back of a running server. It says what to read again, never what it is now: the
 * database alone knows that.
 */
export const ControlMessage = z.discriminatedUnion("kind", [
  /** A key was made, rotated or revoked: forget what was verified. */
  z.object({ kind: z.literal("keys"), keyId: z.string().optional() }),
  /** Plan, permissions or suspension of an account. */
  z.object({ kind: z.literal("account"), accountId: z.string().optional() }),
  /** Portal sessions ended, one of them or perhaps any: what was minted in them is void. */
  z.object({ kind: z.literal("sessions"), sessionId: z.string().optional() }),
  z.object({ kind: z.literal("listings"), venue }),
  /** Definitions or overrides of calendars. */
  z.object({ kind: z.literal("calendars") }),
  /** Stored history was rewritten. */
  z.object({ kind: z.literal("klines"), venue, ticker: z.string().optional() }),
  /** Messages may have been missed: read everything again. */
  z.object({ kind: z.literal("everything") }),
]);
export type ControlMessage = z.infer<typeof ControlMessage>;

/**
 * Tells every running process of this installation, this one included.
 * @throws pg's error when the database is away; then nobody was told.
 */
export async function publish(pool: Pick<Pool, "query">, message: ControlMessage): Promise<void> {
  await pool.query("SELECT pg_notify($1, $2)", [CHANNEL, JSON.stringify(message)]);
}

interface ListenOptions {
  db: Pick<Database, "client">;
  /** Called for each message in order; must not throw. */
  onMessage: (message: ControlMessage) => void;
  clock: Clock;
  log: Logger;
}

/** A listener that runs. */
export interface ControlListener {
  /** False while messages may be missed: whoever keeps what they void must ask the database more often then. */
  connected(): boolean;
  stop(): Promise<void>;
}

function parse(notification: Notification, log: Logger): ControlMessage | undefined {
  try {
    return ControlMessage.parse(JSON.parse(notification.payload ?? ""));
  } catch {
    // A newer release may say what this one does not know.
    log.warn({ payload: notification.payload }, "a control message was not understood");
    return undefined;
  }
}

/** @throws Error when the connection does not answer in time */
async function ping(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  let answered = false;
  const asking = client.query("SELECT 1").then(() => {
    answered = true;
  });
  await Promise.race([asking, clock.wait(PING_TIMEOUT_MS, signal)]);
  // After a stall of this process the answer may be here already, only not read.
  if (!answered) await Promise.race([asking, nextTurn()]);
  asking.catch(() => undefined);
  if (!answered && !signal.aborted) throw new Error("the connection does not answer");
}

/** Listens on one connection until it is lost or the signal aborts; `onChange` tells when it hears and when no more. */
async function listenOnce(
  { db, onMessage, clock, log }: ListenOptions,
  signal: AbortSignal,
  onChange: (listening: boolean) => void,
) {
  const client = db.client();
  const lost = new AbortController();
  const over = AbortSignal.any([signal, lost.signal]);
  lost.signal.addEventListener("abort", () => onChange(false));
  client.on("error", () => lost.abort());
  client.on("end", () => lost.abort());
  client.on("notification", (notification) => {
    const message = parse(notification, log);
    if (message !== undefined) onMessage(message);
  });
  try {
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    onChange(true);
    while (!over.aborted) {
      await clock.wait(PING_INTERVAL_MS, over);
      // A peer that vanished without a word is noticed by asking.
      if (!over.aborted) await ping(client, clock, over);
    }
  } finally {
    onChange(false);
    await client.end().catch(() => undefined);
  }
}

/**
 * Follows the control messages of this installation; resolves when it hears them. A lost connection is opened again,
 * and `everything` is said then, because something may have been missed meanwhile.
 */
export async function listen(options: ListenOptions): Promise<ControlListener> {
  const { onMessage, clock, log } = options;
  const stopping = new AbortController();
  let connected = false;
  let heard = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    heard = resolve;
  });

  async function run(): Promise<void> {
    let failures = 0;
    let again = false;
    while (!stopping.signal.aborted) {
      try {
        await listenOnce(options, stopping.signal, (listening) => {
          connected = listening;
          if (!listening) return;
          if (again) {
            log.info("control channel is back");
            onMessage({ kind: "everything" });
          }
          failures = 0;
          heard();
        });
      } catch (error) {
        if (failures === 0 && !stopping.signal.aborted)
          log.warn({ reason: error instanceof Error ? error.message : String(error) }, "control channel lost; opening it again");
      }
      again = true;
      const wait = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_LONGEST_MS);
      failures += 1;
      await clock.wait(wait, stopping.signal);
    }
    heard();
  }

  const running = run();
  await first;
  return {
    connected: () => connected,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
