import type { Clock } from "#lib/clock";
import type { ControlMessage } from "#lib/control";
import type { Logger } from "#lib/log";
import type { Database, StartUp } from "#server/store/database/db";
import { createCatalogue } from "#server/store/market/catalogue";
import { type ChangeTargets, createChangeFollower } from "./change-follower";

interface ChangesOptions {
  readonly db: Database;
  readonly startUp: StartUp;
  readonly clock: Clock;
  readonly log: Logger;
  /** Registers what must be stopped. */
  readonly onStop: (name: string, stop: () => Promise<void> | void) => void;
}

/** Loads the catalogues, and follows changes that other processes make. */
export async function followChanges({ db, startUp, clock, log, onStop }: ChangesOptions) {
  // Subscribes before the first read, so that no change in between is lost.
  const beforeLoad: ControlMessage[] = [];
  let onMessage = (message: ControlMessage): unknown => beforeLoad.push(message);
  const control = await db.control.listen((message) => void onMessage(message));
  onStop("control", control.stop);
  const load = () => Promise.all([createCatalogue(db, "live"), createCatalogue(db, "sandbox")]);
  const [live, sandbox] = await startUp.run(load);
  const catalogues = { live, sandbox };
  const changeTargets: ChangeTargets = { catalogues };
  const changes = createChangeFollower(changeTargets, clock, log);
  onStop("changes", changes.stop);
  onMessage = changes.follow;
  for (const message of beforeLoad) await changes.follow(message);
  return { catalogues, changeTargets, controlConnected: control.connected };
}
