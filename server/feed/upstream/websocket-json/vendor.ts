import type { Declaration, OddReason, Received, Upstream } from "../port";

/** What one message of a vendor says. */
export type Said =
  | { readonly received: readonly Received[] }
  /** The vendor waits for the key now, or for the subscription. */
  | { readonly next: "authenticate" | "subscribe" | "listen" }
  | { readonly odd: OddReason }
  /** A heartbeat, or news of no use. */
  | "alive"
  /** The key is wrong or entitles to nothing. */
  | { readonly refused: string }
  | { readonly upset: string; readonly retryAfterMs?: number };

/** A vendor that sends prices as JSON over WebSocket. */
export interface Vendor {
  readonly name: string;
  readonly declares: Declaration;
  readonly symbolOf: NonNullable<Upstream["symbolOf"]>;
  readonly url: string;
  /** True where the key is part of the address, in the query parameter of this name. */
  readonly keyParameter?: string;
  /** What it waits for once the connection is open; nothing where it speaks first. */
  readonly begins: "authenticate" | "subscribe" | null;
  authenticate?(key: string): object;
  subscribe(symbols: readonly string[], key: string): object;
  /**
   * Ways to write a symbol in a subscription, where its documents know several. The first is tried first; after a connection that
   * brought no price, the next one.
   */
  readonly spellings?: readonly ((symbol: string) => string)[];
  /** A message that must be sent regularly. */
  readonly heartbeat?: { readonly everyMs: number; readonly message: object };
  /** Reads one message: text, and the same as JSON; undefined when it is none. */
  read(text: string, json: unknown): Said[];
}
