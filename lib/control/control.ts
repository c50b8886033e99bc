import { z } from "zod";
import { VENUES } from "#lib/contract/primitives";

/** Whoever made a change is not kept waiting longer for it to be told. */
export const SEND_MAX_MS = 2_000;

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

/** One connection that hears a channel. */
export interface ControlLine {
  /** Settles when the other end has answered, or cannot; without an end of its own. */
  ping(): Promise<unknown>;
  /** Ends the connection, a broken one too; does not throw. */
  close(): Promise<void>;
}

/** What carries texts between the processes of an installation: PostgreSQL where it is one node, Redis where it is several. */
export interface ControlChannel {
  /** Sends a text to every line that is open now. @throws Error when the channel is away; perhaps nobody was told then */
  send(text: string): Promise<void>;
  /**
   * Opens a line: every text sent after it is open is heard, in order.
   * @param onLost the line broke; it hears nothing more, and is still to be closed
   * @throws Error when the channel is away; nothing is left open then
   */
  open(onText: (text: string) => void, onLost: (reason: unknown) => void, signal: AbortSignal): Promise<ControlLine>;
}

/** A listener that runs. */
export interface ControlListener {
  /** False while messages may be missed: whoever keeps what they void must ask the database more often then. */
  connected(): boolean;
  stop(): Promise<void>;
}

/** Tells the processes of an installation what was changed, and hears it from them. */
export interface Control {
  /**
   * Tells every running process of this installation, this one included; call it once the change is written. Never throws,
   * for the change stands whether it could be told or not: what cannot be told now is told, in order, within about a second
   * of the channel being back, as long as this process lives. Processes that have lost the channel too read keys and accounts
   * again each second, and everything when it is back.
   */
  publish(message: ControlMessage): Promise<void>;
  /**
   * Follows the messages; resolves when it hears them, or has found the channel away and goes on trying. A lost connection is
   * noticed within about a second and opened again, and `everything` is said then: something may have been missed meanwhile.
   * @param onMessage called for each message in order; must not throw
   */
  listen(onMessage: (message: ControlMessage) => void): Promise<ControlListener>;
  /** Messages that could not be told so far. */
  pending(): number;
  /** Gives up what could not be told. Listeners are stopped by themselves. */
  close(): void;
}
