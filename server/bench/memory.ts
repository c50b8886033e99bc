import autocannon from "autocannon";
import { type Contestant, startChild } from "./child";
import { dropBodies } from "./load";
import { startSpotwire } from "./product";
import { rounded } from "./spread";
import { seconds } from "./stream-load";
import type { Row } from "./table";

/** Pages without a session, of every kind: prerendered, rendered for each reader, and missing. */
const PAGES = ["/", "/docs/quickstart", "/docs/limits", "/markets", "/status", "/playground", "/signin", "/no/such/page"];
/** The pages that bare Next can show without a market. */
const STATIC_PAGE = "/docs/quickstart";
const NEXT = "node_modules/next/dist/bin/next";
const READERS_COUNT = 4;
const READS_PER_SECOND = 2;
const HOUR_S = 3_600;
/** Until then the garbage of a start, or of a load, is collected as far as it is on its own. */
const SETTLE_S = 10;
const MIB = 1_048_576;
const IDLE_MAX_RATIO = 1.3;
const READ_MAX_RATIO = 1.2;

/** Resident memory of the product's processes, bytes; PostgreSQL's is not counted. */
async function residentBytes({ url }: Contestant): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const of = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return of("process_resident_memory_bytes") + of("spotwire_portal_process_resident_memory_bytes");
}

async function read(url: string, paths: readonly string[], amount: number): Promise<void> {
  const requests = paths.map((path) => ({ path }));
  const result = await autocannon({
    url,
    requests,
    connections: READERS_COUNT,
    amount,
    duration: HOUR_S,
    timeout: 60,
    setupClient: dropBodies,
  });
  if (result["5xx"] + result.errors > 0) throw new Error(`${result["5xx"]} pages failed, ${result.errors} errors`);
}

/** Resident memory of the pages: idle against bare Next, and after as many reads as an hour has, as fast as they go. */
export async function benchMemory(): Promise<Row[]> {
  const bare = await startChild(NEXT, {}, { args: ["start", "-p", "0", "-H", "127.0.0.1"] });
  const server = await startSpotwire({ PORTAL: "on" });
  try {
    for (const { url } of [bare, server]) await read(url, [STATIC_PAGE], READERS_COUNT);
    await seconds(SETTLE_S);
    const [anchor, idle] = [bare.residentBytes(), await residentBytes(server)];
    const reads = READS_PER_SECOND * HOUR_S;
    process.stderr.write(`  reading ${rounded(reads)} pages takes some minutes …\n`);
    await read(server.url, PAGES, reads);
    await seconds(SETTLE_S);
    const after = await residentBytes(server);
    const mib = (bytes: number) => `${rounded(bytes / MIB)} MiB`;
    return [
      {
        id: "memory-idle",
        what: "resident memory, idle: market and pages together",
        value: mib(idle),
        anchor: mib(anchor),
        ratio: { value: idle / anchor, target: IDLE_MAX_RATIO, against: "bare Next with the same pages", bound: "at most" },
      },
      {
        id: "memory-pages",
        what: `resident memory after ${rounded(reads)} page reads: an hour of ${READS_PER_SECOND} a second`,
        value: mib(after),
        anchor: mib(idle),
        ratio: { value: after / idle, target: READ_MAX_RATIO, against: "idle", bound: "at most" },
      },
    ];
  } finally {
    await Promise.all([server.stop(), bare.stop()]);
  }
}
