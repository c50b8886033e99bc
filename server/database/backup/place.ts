import { openAsBlob } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "#lib/clock";
import type { Env } from "#lib/env";
import type { Place } from "#lib/env-history";
import { HOUR_MS } from "#lib/units";
import { openBucket } from "#server/store/segments/bucket";
import { credentialsOf } from "#server/store/segments/open-store";
import { backupTimeMs } from "./name";

/** The longest that sending a backup to a bucket may take. A bucket takes at most 5 GB in one request. */
const SEND_MAX_MS = HOUR_MS;
/** Where a backup is written before it is sent to a bucket. */
const UNSENT = "backup-unsent";

/** Where the service puts its backups. */
export interface BackupPlace {
  /** Makes room for a backup of this name, and returns the file to write. */
  prepare(name: string): Promise<string>;
  /** Puts the file that was written into its place. */
  keep(name: string): Promise<void>;
  /** The names of the backups there, oldest first; also of those that were not finished. */
  names(): Promise<string[]>;
  drop(name: string): Promise<void>;
}

const backupsOf = (names: readonly string[]) => names.filter((name) => backupTimeMs(name) !== undefined).sort();

function inFolder(folder: string): BackupPlace {
  return {
    prepare: async (name) => path.join(folder, name),
    keep: async () => undefined,
    names: async () => backupsOf(await readdir(folder)),
    drop: (name) => rm(path.join(folder, name), { force: true }),
  };
}

/** In a bucket. The file is written in DATA_DIR first, because a bucket wants to know its size. */
function inBucket(place: Extract<Place, { kind: "bucket" }>, env: Env, clock: Clock, signal?: AbortSignal): BackupPlace {
  const folder = path.join(env.DATA_DIR, UNSENT);
  const credentials = credentialsOf(env);
  const bucket = openBucket({ place, credentials, clock, requestMaxMs: SEND_MAX_MS, what: "backups", signal });
  return {
    async prepare(name) {
      // With what a killed process left.
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { mode: 0o700 });
      return path.join(folder, name);
    },
    async keep(name) {
      const body = await openAsBlob(path.join(folder, name));
      await bucket.ask({ method: "PUT", name, headers: { "content-type": "application/octet-stream" }, body }, 200);
      await rm(folder, { recursive: true, force: true });
    },
    async names() {
      const names: string[] = [];
      for (let last: string | null = ""; last !== null; ) {
        const page: Awaited<ReturnType<typeof bucket.page>> = await bucket.page(last);
        names.push(...page.objects.map(({ name }) => name));
        last = page.last;
      }
      return backupsOf(names);
    },
    async drop(name) {
      await bucket.ask({ method: "DELETE", name }, 200, 204);
    },
  };
}

/** Opens BACKUP_TO. @param signal ends what is being sent or asked */
export function openPlace(place: Place, env: Env, clock: Clock, signal?: AbortSignal): BackupPlace {
  return place.kind === "directory" ? inFolder(place.folder) : inBucket(place, env, clock, signal);
}
