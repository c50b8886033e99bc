import type { Access } from "#lib/access/access";
import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";
import type { RunningMarket } from "#server/market/market";
import type { ReloadableCatalogue } from "#server/store/market/catalogue";

/** After a change fails to load, everything is reloaded after this time. */
const AGAIN_MS = 1_000;

/** The parts that a control message may concern, as far as they have started. */
export interface ChangeTargets {
  readonly catalogues: Readonly<Record<Venue, ReloadableCatalogue>>;
  access?: Access;
  markets?: Readonly<Record<Venue, RunningMarket>>;
  streams?: { apply(message: ControlMessage): void };
}

/** Loads changes made by other processes into the running parts. */
interface ChangeFollower {
  /** Never rejects. */
  follow(message: ControlMessage): Promise<void>;
  stop(): Promise<void>;
}

async function apply(message: ControlMessage, { catalogues, access, markets, streams }: ChangeTargets): Promise<void> {
  const { kind } = message;
  access?.apply(message);
  // Keys and accounts are always read from the database, so nothing has to be reloaded first.
  if (kind === "keys" || kind === "account" || kind === "sessions") streams?.apply(message);
  if (kind === "listings") await catalogues[message.venue].reload();
  if (kind === "calendars" || kind === "everything") await Promise.all(VENUES.map((venue) => catalogues[venue].reload()));
  if (kind === "listings" || kind === "everything") streams?.apply(message);
  if (kind === "feed" || kind === "everything") await markets?.live.pinChanged();
  if (kind === "klines") await markets?.[message.venue].historyChanged(message.ticker, message.minutes);
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
      // A change that failed during the reload may have been made after its data was read.
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
