import { z } from "zod";
import { VENUES } from "#lib/contract/primitives";

/** Longest time that a change waits for its message to be sent. */
export const SEND_MAX_MS = 2_000;

const venue = z.enum(VENUES);

/**
 * A change made outside a running server. It names what to read again, never the new value: only the database has that.
 */
export const ControlMessage = z.discriminatedUnion("kind", [
  /** A key was created, rotated or revoked: forget what was verified. */
  z.object({ kind: z.literal("keys"), keyId: z.string().optional() }),
  /** Plan, permissions or suspension of an account. */
  z.object({ kind: z.literal("account"), accountId: z.string().optional() }),
  /** Portal sessions ended, one or any of them: tokens issued in them are void. */
  z.object({ kind: z.literal("sessions"), sessionId: z.string().optional() }),
  z.object({ kind: z.literal("listings"), venue }),
  /** Definitions or overrides of calendars. */
  z.object({ kind: z.literal("calendars") }),
  /** An operator prefers another provider of the live venue, or none. */
  z.object({ kind: z.literal("feed") }),
  /** Stored history was rewritten; of a ticker, from the first to the last minute (Unix seconds) where these are known, with the correction that struck some out. */
  z.object({
    kind: z.literal("klines"),
    venue,
    ticker: z.string().optional(),
    minutes: z.object({ first: z.number(), last: z.number(), struck: z.number().optional() }).optional(),
  }),
  /** Messages may have been missed: read everything again. */
  z.object({ kind: z.literal("everything") }),
]);
export type ControlMessage = z.infer<typeof ControlMessage>;

/** One connection that receives from a channel. */
export interface ControlLine {
  /** Settles when the other end answers or the connection fails; has no timeout of its own. */
  ping(): Promise<unknown>;
  /** Closes the connection, even a broken one; does not throw. */
  close(): Promise<void>;
}

/** A connection of the database, in a transaction. */
interface Transaction {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** Carries texts between the processes of an installation. */
export interface ControlChannel {
  /** Sends a text to every open line. @throws Error when the channel is unavailable; the text may not have arrived anywhere */
  send(text: string): Promise<void>;
  /**
   * Opens a line: it receives every text sent after it is open, in order.
   * @param onLost the line broke; it receives nothing more and still has to be closed
   * @throws Error when the channel is unavailable; nothing stays open then
   */
  open(onText: (text: string) => void, onLost: (reason: unknown) => void, signal: AbortSignal): Promise<ControlLine>;
}

/** A channel that is in the database. */
export interface DatabaseChannel extends ControlChannel {
  /** Sends a text with the commit of a transaction, or not at all. */
  sendWith(transaction: Transaction, text: string): Promise<void>;
}

/** A listener that runs. */
export interface ControlListener {
  /** False while messages may be missed: caches that depend on them must ask the database more often then. */
  connected(): boolean;
  stop(): Promise<void>;
}

/** Sends changes to the processes of an installation, and receives theirs. */
export interface Control {
  /**
   * Sends a change to every running process of this installation, this one included; call it once the change is written.
   * Never throws, because the change is made either way: a message that cannot be sent now is sent, in order, within about a
   * second of the channel being back, as long as this process lives. Processes that have lost the channel too read keys and
   * accounts again each second, and everything when it is back.
   */
  publish(message: ControlMessage): Promise<void>;
  /**
   * Sends changes that a transaction makes: the commit sends them, so that no kill comes between both.
   * @throws the error of pg; then nothing is sent, and the transaction fails
   */
  publishWith(transaction: Transaction, messages: readonly ControlMessage[]): Promise<void>;
  /**
   * Follows the messages; resolves when it is listening, or has found the channel unavailable and keeps trying. A lost
   * connection is noticed within about a second and opened again; then `everything` is delivered, because messages may have
   * been missed.
   * @param onMessage called for each message in order; must not throw
   */
  listen(onMessage: (message: ControlMessage) => void): Promise<ControlListener>;
  /** Messages that could not be sent so far. */
  pending(): number;
  /** Drops pending messages. Stop listeners separately. */
  close(): void;
}
