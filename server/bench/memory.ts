import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { SUMMARY_MAX_DAYS } from "#lib/contract/limits";
import { operations } from "#lib/operations/declarations";
import { DAY_MS, isoDate } from "#lib/units";
import { familyBytes, startProcess } from "./child";
import { audience, LISTINGS } from "./fanout";
import type { OpenSockets } from "./fanout-clients";
import { writeMinutes } from "./history";
import { IMPORT_COMMAND } from "./import";
import { anyAddress, BEHIND_PROXY } from "./load";
import { type Spotwire, startSpotwire } from "./product";
import { rounded, spreadOf } from "./spread";
import { limited, type Row } from "./table";

/** Pages without a session, of every kind: prerendered, rendered for each reader, and missing. */
const PAGES = ["/", "/docs/quickstart", "/docs/limits", "/markets", "/status", "/playground", "/signin", "/no/such/page"];
const READERS_COUNT = 4;
const PAGE_EVERY_MS = 100;
const IMPORTED_ROWS_COUNT = 1_000_000;
const SUMMARIES_AT_ONCE_COUNT = 2;
const SUMMARY_LAST_DAY = Date.UTC(2026, 0, 1) / DAY_MS;
const SUMMARY_WINDOWS_COUNT = 3_600;
/** The load lasts at least so long, and until the import ends. */
const LOAD_MS = 120_000;
/** By then a process has collected the garbage of a start, or of a load, as far as it does on its own. */
const SETTLE_MS = 120_000;
const AFTER_MS = 180_000;
const LOOK_INTERVAL_MS = 1_000;
const MIB = 1_048_576;
/** What is left of 1 GB to a system and its disk cache. */
const IDLE_MAX_MIB = 350;
const LOADED_MAX_MIB = 700;
export const AFTER_MAX_RATIO = 1.15;
const OK = 200;

/** Where Linux keeps control groups of memory, and how a limit is called there: in version 2, and in version 1. */
const GROUPS = [
  { root: "/sys/fs/cgroup", mark: "cgroup.controllers", limit: "memory.max" },
  { root: "/sys/fs/cgroup/memory", mark: "cgroup.procs", limit: "memory.limit_in_bytes" },
] as const;

/** What a process may start within a limit of memory that all of it shares. */
interface Bounded {
  readonly says: string;
  /** Starts something there. */
  start<Started>(work: () => Started): Started;
  remove(): void;
}

/** A machine with 1 GB, as far as a process sees it: a control group, which only root can make. Without one, nothing is limited. */
function oneGigabyte(): Bounded {
  const group = GROUPS.find(({ root, mark }) => existsSync(path.join(root, mark)));
  const folder = path.join(group?.root ?? "", `spotwire-bench-${process.pid}`);
  try {
    if (group === undefined) throw new Error("no control groups of memory");
    const [, own = "/"] = /^(?:\d+:memory|0:):(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8")) ?? [];
    const enter = (where: string) => writeFileSync(path.join(where, "cgroup.procs"), String(process.pid));
    mkdirSync(folder);
    writeFileSync(path.join(folder, group.limit), String(1_024 * MIB));
    return {
      says: "in a control group of 1 GB",
      start(work) {
        // What is started stays where it was started; what this process took stays with its own group.
        enter(folder);
        try {
          return work();
        } finally {
          enter(path.join(group.root, own));
        }
      },
      remove: () => rmdirSync(folder),
    };
  } catch (error) {
    return { says: `without a limit: ${(error as Error).message}`, start: (work) => work(), remove: () => undefined };
  }
}

/** Fetches a text. @throws Error when the status is another */
async function fetched(url: string, headers: Readonly<Record<string, string>>, statuses: readonly number[]): Promise<void> {
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  if (!statuses.includes(answer.status)) throw new Error(`${url} was answered with ${answer.status}: ${text.slice(0, 200)}`);
}

/** Streams, page readers, summaries of long windows and an import of a file, all at once. */
async function loadAll(server: Spotwire, bounded: Bounded, dataDir: string, file: string) {
  const clients = startProcess("server/bench/fanout-clients.ts");
  const ended = new AbortController();
  const count = { pages: 0, summaries: 0 };
  let peakBytes = 0;
  const opened: OpenSockets = { url: server.url, dialect: "raw", key: server.testKey, audience: audience() };
  await clients.call("open", opened);
  const args = [IMPORT_COMMAND, "--venue", "live", "--ticker", "XAUUSD", "--accept-doubts", file];
  const importing = bounded.start(() =>
    spawn(process.execPath, args, {
      env: { NODE_ENV: "production", PATH: "/usr/bin:/bin", DATA_DIR: dataDir, LOG_LEVEL: "error" },
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  const imported = once(importing, "exit") as Promise<[number]>;
  async function watch(): Promise<void> {
    while (!ended.signal.aborted) {
      peakBytes = Math.max(peakBytes, server.familyBytes() + familyBytes(importing.pid));
      await setTimeout(LOOK_INTERVAL_MS);
    }
  }
  async function read(): Promise<void> {
    while (!ended.signal.aborted) {
      const page = PAGES[count.pages++ % PAGES.length] ?? "/";
      await fetched(server.url + page, anyAddress(), [OK, 404]);
      await setTimeout(PAGE_EVERY_MS);
    }
  }
  async function summarise(): Promise<void> {
    while (!ended.signal.aborted) {
      // Another window each time, so that no answer is kept from before.
      const to = SUMMARY_LAST_DAY - (count.summaries++ % SUMMARY_WINDOWS_COUNT);
      const query = new URLSearchParams({
        ticker: LISTINGS[count.summaries % LISTINGS.length]?.ticker ?? "",
        from: isoDate((to - SUMMARY_MAX_DAYS) * DAY_MS),
        to: isoDate(to * DAY_MS),
        by: "hour_of_day",
      });
      const headers = { authorization: `Bearer ${server.testKey}` };
      await fetched(`${server.url}${operations.marketSummary.path}?${query}`, headers, [OK]);
    }
  }
  const times = (length: number, work: () => Promise<void>) => Array.from({ length }, work);
  try {
    const running = [watch(), ...times(READERS_COUNT, read), ...times(SUMMARIES_AT_ONCE_COUNT, summarise)];
    const done = Promise.all([imported, setTimeout(LOAD_MS)]);
    await Promise.race([done, Promise.all(running)]);
    const [code] = await imported;
    if (code !== 0) throw new Error(`the import ended with ${code}`);
    ended.abort();
    await Promise.all(running);
    return { peakBytes, ...count };
  } finally {
    ended.abort();
    importing.kill();
    await clients.stop();
  }
}

/**
 * Memory of the whole service, PostgreSQL too: idle, under everything at once, and after it. It decides how small a machine may
 * be, and takes nine minutes.
 */
export async function benchMemory(): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const [dataDir, file] = [path.join(folder, "data"), path.join(folder, "XAUUSD.csv")];
  await writeMinutes(file, IMPORTED_ROWS_COUNT);
  const bounded = oneGigabyte();
  const server = await bounded.start(() => startSpotwire({ PORTAL: "on", DATA_DIR: dataDir, ...BEHIND_PROXY }));
  try {
    await setTimeout(SETTLE_MS);
    const idle = server.familyBytes();
    process.stderr.write(`  ${rounded(idle / MIB)} MiB idle, ${bounded.says}; the load takes some minutes …\n`);
    const { peakBytes, pages, summaries } = await loadAll(server, bounded, dataDir, file);
    process.stderr.write(`  ${rounded(peakBytes / MIB)} MiB with ${rounded(pages)} pages and ${rounded(summaries)} summaries\n`);
    await setTimeout(AFTER_MS);
    const after = server.familyBytes();
    const load = `with ${rounded(audience().length)} streams, page readers, summaries and an import of ${rounded(IMPORTED_ROWS_COUNT)} rows`;
    return [
      limited("memory-idle", "memory, idle: market, pages and PostgreSQL", "MiB", [idle / MIB], IDLE_MAX_MIB),
      limited("memory-loaded", `memory ${load}`, "MiB", [peakBytes / MIB], LOADED_MAX_MIB),
      {
        id: "memory-after",
        what: `memory ${AFTER_MS / 60_000} minutes after that load, MiB`,
        against: "idle",
        target: AFTER_MAX_RATIO,
        bound: "at most",
        own: after / MIB,
        beside: idle / MIB,
        ratio: spreadOf([after / idle]),
      },
    ];
  } finally {
    await server.stop();
    bounded.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
