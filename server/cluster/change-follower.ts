import type { Access } from "#lib/access/access";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control/control";
import type { Logger } from "#lib/log";
import type { ReloadableCatalogue } from "#lib/market/catalogue";
import { repeat } from "#lib/repeat";
import type { RunningMarket } from "#server/market";

/** A change that could not be read is read again after this, with everything else. */
const AGAIN_MS = 1_000;

/** What a control message may concern, as far as it is up. */
export interface ChangeTargets {
  readonly catalogues: Readonly<Record<Venue, ReloadableCatalogue>>;
  access?: Access;
  markets?: Readonly<Record<Venue, RunningMarket>>;
  streams?: { apply(message: ControlMessage): void };
}

/** Brings changes that were made behind our back into the running parts. */
interface ChangeFollower {
  /** Never rejects. */
  follow(message: ControlMessage): Promise<void>;
  stop(): Promise<void>;
}

async function apply(message: ControlMessage, { catalogues, access, markets, streams }: ChangeTargets): Promise<void> {
  const { kind } = message;
  access?.apply(message);
  // Keys and accounts are the database's to tell, so nothing has to be read before.
  if (kind === "keys" || kind === "account" || kind === "sessions") streams?.apply(message);
  if (kind === "listings") await catalogues[message.venue].reload();
  if (kind === "calendars" || kind === "everything") await Promise.all(VENUES.map((venue) => catalogues[venue].reload()));
  if (kind === "listings" || kind === "everything") streams?.apply(message);
  if (kind === "klines") await markets?.[message.venue].historyChanged(message.ticker);
  if (kind === "everything") await Promise.all(VENUES.map((venue) => markets?.[venue].historyChanged()));
}

/** Makes a follower of changes; `parts` may grow while the service starts. */
export function createChangeFollower(parts: ChangeTargets, clock: Clock, log: Logger): ChangeFollower {
  const stopping = new AbortController();
  let retrying: Promise<void> | undefined;
  let failures = 0;

  async function retry(): Promise<void> {
    let done = false;
    await repeat({ clock, signal: stopping.signal, pause: AGAIN_MS, until: () => done, onError: () => undefined }, async () => {
      const before = failures;
      await apply({ kind: "everything" }, parts);
      // What failed while everything was read may have been changed after it was read.
      if (failures > before) return;
      done = true;
      retrying = undefined;
      log.info("missed changes are loaded");
    });
  }

  return {
    async follow(message) {
      try {
        await apply(message, parts);
      } catch (error) {
        log.error({ err: error, message }, "cannot load a change; reloading everything until it succeeds");
        failures += 1;
        retrying ??= retry();
      }
    },
    async stop() {
      stopping.abort();
      await retrying;
    },
  };
}
