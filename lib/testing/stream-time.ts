import type { ManualClock } from "#lib/clock";
import type { StreamClient } from "./stream-client";

/**
 * Longest move of the clock without a round trip over the network: if the clock advances while the sockets do not, the service
 * treats every reader as slow (ten seconds).
 */
const STEP_MAX_MS = 5_000;

/** Resolves when everything that was sent to the client before has arrived. */
export async function fence(client: StreamClient): Promise<void> {
  client.send("ping");
  await client.next("ack");
}

/** Advances the clock, with a round trip of each client after every few seconds. */
export async function advanceWith(clock: ManualClock, ms: number, clients: readonly StreamClient[]): Promise<void> {
  const endMs = clock.now() + ms;
  while (clock.now() < endMs) {
    await clock.advance(Math.min(STEP_MAX_MS, endMs - clock.now()));
    await Promise.all(clients.map(fence));
  }
}

/** Advances the clock until the work is done; network events it waits for are processed in between. */
export async function advanceUntil(clock: ManualClock, done: Promise<unknown>): Promise<void> {
  let over = false;
  const ended = done.finally(() => {
    over = true;
  });
  while (!over) await clock.advance(20);
  await ended;
}
