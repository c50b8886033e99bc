import { type Cursor, newestOf } from "./cursor";
import { type EventLog, type Leading, TokenUsed } from "./event-log";

/** A log within one process. A follower has the events when `append` returns. */
export function createMemoryLog(): EventLog {
  let cursors: readonly Cursor[] = [];
  let leader: Leading | undefined;
  /** How often was appended. */
  let n = 0;
  let begin: (() => void) | undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });

  const headerNow = () => leader && { token: leader.token, n, ...leader.standing() };

  return {
    inProcess: true,
    async lead(leading) {
      if (leader !== undefined && leader.token >= leading.token) throw new TokenUsed(leader.token);
      leader?.onFenced();
      leader = leading;
      for (const { projection } of cursors) projection.recent.begin(leading.standing().epoch);
      return {
        before: undefined,
        caughtUp: true,
        begin: () => begin?.(),
        append(events) {
          if (leader !== leading) return;
          n += 1;
          for (const { projection } of cursors) projection.apply(events);
        },
        appended: async () => leader === leading,
        stop: async () => undefined,
      };
    },
    follow(cursor) {
      const header = headerNow();
      if (leader !== undefined && header !== undefined) {
        const newest = newestOf(header, leader.newest());
        if (cursor.header() === undefined) cursor.fill(newest, []);
        else cursor.bridge(newest);
      }
      cursors = [...cursors, cursor];
      return {
        begun,
        ended: new Promise(() => undefined),
        standing: () => leader?.standing(),
        problem: () => null,
        async stop() {
          const last = headerNow();
          if (last !== undefined) cursor.take({ header: last, events: [] });
          cursors = cursors.filter((other) => other !== cursor);
        },
      };
    },
  };
}
