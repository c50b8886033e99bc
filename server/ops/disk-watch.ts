import { statfs } from "node:fs/promises";
import type { Clock } from "#lib/clock";
import type { DiskName, DiskSpace } from "#lib/contract/portal-health";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import { startRepeating } from "#lib/repeat";
import { MIB_BYTES, SECOND_MS } from "#lib/units";

/** A disk that fills at 100 MiB/s loses that much between two looks; the default of the reserve is more. */
const LOOK_INTERVAL_MS = SECOND_MS;
/** Somebody has to free space first. */
const RETRY_AFTER_S = 30;

/** The names of the checks, in /api/ready and on /admin. */
const CHECKS: Readonly<Record<DiskName, string>> = { data: "disk", recordings: "recordings_disk" };

interface DiskWatchOptions {
  /** A folder on each disk. */
  readonly folders: Readonly<Partial<Record<DiskName, string>>>;
  /** Free space below which nothing more is taken; 0 for none. */
  readonly reserveMib: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The free space of the disks that the service writes to, as it was read last. */
export interface DiskWatch {
  /** By name; null where it cannot be read. */
  spaces(): Readonly<Partial<Record<DiskName, DiskSpace | null>>>;
  /** By name of the check: null when there is room, else what is wrong. */
  problems(): Readonly<Record<string, string | null>>;
  /** @throws Fault service_unavailable while the disk of the data has less than the reserve */
  requireRoom(): void;
  stop(): Promise<void>;
}

/** Reads the free space once a second. What it reads first is known when it resolves. */
export async function startDiskWatch({ folders, reserveMib, clock, log }: DiskWatchOptions): Promise<DiskWatch> {
  const names = Object.keys(folders) as DiskName[];
  const spaces = new Map<DiskName, DiskSpace | null>();
  const isShort = (name: DiskName) => (spaces.get(name)?.free_bytes ?? Number.POSITIVE_INFINITY) < reserveMib * MIB_BYTES;

  function problemOf(name: DiskName): string | null {
    if (!isShort(name)) return null;
    const free = Math.floor((spaces.get(name)?.free_bytes ?? 0) / MIB_BYTES);
    const effect = name === "data" ? "; pushes are refused" : "";
    return `${free} MiB are free, fewer than the reserve of ${reserveMib} MiB${effect}`;
  }

  async function look(): Promise<void> {
    for (const name of names) {
      const before = isShort(name);
      const disk = await statfs(folders[name] ?? "").catch(() => undefined);
      spaces.set(name, disk ? { free_bytes: disk.bavail * disk.bsize, bytes: disk.blocks * disk.bsize } : null);
      if (isShort(name) && !before) log.error({ folder: folders[name], reason: problemOf(name) }, "a disk is almost full");
      else if (before && !isShort(name)) log.info({ folder: folders[name] }, "the disk has room again");
    }
  }
  await look();
  const { stop } = startRepeating({ clock, pause: LOOK_INTERVAL_MS }, look);

  return {
    spaces: () => Object.fromEntries(spaces),
    problems: () => Object.fromEntries(names.map((name) => [CHECKS[name], problemOf(name)])),
    requireRoom() {
      if (!isShort("data")) return;
      const detail = "The disk of the service is almost full, so ticks and klines are not accepted right now.";
      throw new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
    },
    stop,
  };
}
