import { statfs } from "node:fs/promises";
import type { Clock } from "#lib/clock";
import type { DiskSpace } from "#lib/contract/portal-health";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import { startRepeating } from "#lib/repeat";
import { MIB_BYTES, SECOND_MS } from "#lib/units";

/** A disk that fills at 100 MiB/s loses that much between two looks; the default of the reserve is more. */
const LOOK_INTERVAL_MS = SECOND_MS;
/** Somebody has to free space first. */
const RETRY_AFTER_S = 30;

interface DiskWatchOptions {
  /** A folder on the disk. */
  readonly folder: string;
  /** Free space below which nothing more is taken; 0 for none. */
  readonly reserveMib: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The free space of the disk that the service writes to, as it was read last. */
export interface DiskWatch {
  /** Null where it cannot be read. */
  space(): DiskSpace | null;
  /** Null when there is room, else what is wrong. */
  problem(): string | null;
  /** @throws Fault service_unavailable while the disk has less than the reserve */
  requireRoom(): void;
  stop(): Promise<void>;
}

/** Reads the free space once a second. What it reads first is known when it resolves. */
export async function startDiskWatch({ folder, reserveMib, clock, log }: DiskWatchOptions): Promise<DiskWatch> {
  let space: DiskSpace | null = null;
  const isShort = () => (space?.free_bytes ?? Number.POSITIVE_INFINITY) < reserveMib * MIB_BYTES;

  function problem(): string | null {
    if (!isShort()) return null;
    const free = Math.floor((space?.free_bytes ?? 0) / MIB_BYTES);
    return `${free} MiB are free, fewer than the reserve of ${reserveMib} MiB; pushes are refused`;
  }

  async function look(): Promise<void> {
    const before = isShort();
    const disk = await statfs(folder).catch(() => undefined);
    space = disk ? { free_bytes: disk.bavail * disk.bsize, bytes: disk.blocks * disk.bsize } : null;
    if (isShort() && !before) log.error({ folder, reason: problem() }, "the disk is almost full");
    else if (before && !isShort()) log.info({ folder }, "the disk has room again");
  }
  await look();
  const { stop } = startRepeating({ clock, pause: LOOK_INTERVAL_MS }, look);

  return {
    space: () => space,
    problem,
    requireRoom() {
      if (!isShort()) return;
      const detail = "The disk of the service is almost full, so ticks and klines are not accepted right now.";
      throw new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
    },
    stop,
  };
}
