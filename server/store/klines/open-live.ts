import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { Database, StartUp } from "#server/store/database/db";
import { createKlineStore, type KlineTable } from "./kline-store";
import { followLacking } from "./lacking-minutes";

interface LiveOptions {
  readonly db: Database;
  readonly startUp: StartUp;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onStop: (name: string, stop: () => Promise<void>) => void;
}

/** The klines of the live venue; during the start their reads wait for the database like all other reads of the start. */
export async function openLive({ db, startUp: { run }, clock, log, onStop }: LiveOptions): Promise<KlineTable> {
  const table = createKlineStore(db);
  const lacking = await run(() => followLacking({ db, clock, log }));
  onStop("minutes that lack ticks", lacking.stop);
  return {
    ...table,
    read: (query) => run(() => table.read(query)),
    lastQuotes: (atMs) => run(() => table.lastQuotes(atMs)),
    stored: {
      ...table.stored,
      lacking,
      importedTimes: (...asked) => run(() => table.stored.importedTimes(...asked)),
      minutesSince: (...asked) => run(() => table.stored.minutesSince(...asked)),
    },
    async beginWriter(token, above) {
      const writer = await run(() => table.beginWriter(token, above));
      return writer && { ...writer, write: (...batch) => run(() => writer.write(...batch)) };
    },
  };
}
