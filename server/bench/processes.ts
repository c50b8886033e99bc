import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import autocannon from "autocannon";
import type { Contestant } from "./child";
import { startSpotwire } from "./quotes";
import { audienceOf, seconds, startClients } from "./stream-load";
import { listingsOf } from "./stream-measure";
import type { Row } from "./table";

/** A page that is rendered for each reader, so that every request goes to the portal. */
const PAGE = "/signin";
const ROUNDS_COUNT = 5;
const SOCKETS_COUNT = 10_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
/** Time after which every connection has had a heartbeat. */
const SETTLE_S = 16;
const MIB = 1_048_576;

/** The resident memory of both processes as text. */
export async function memoryOfBoth({ url }: Contestant): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const of = (name: string) => Math.round(Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]) / MIB);
  return `market ${of("process_resident_memory_bytes")}, portal ${of("spotwire_portal_process_resident_memory_bytes")} MiB`;
}

const medianOf = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Loads pages one after the other, on the public port or on the portal's own socket; returns how many there were. */
async function loadPages(url: string, duration: number, socketPath?: string): Promise<number> {
  const { non2xx, errors, requests } = await autocannon({
    ...{ url: url + PAGE, connections: 1, duration },
    ...(socketPath !== undefined && { socketPath }),
  });
  if (non2xx + errors > 0) throw new Error(`${non2xx + errors} pages failed`);
  return requests.total;
}

function socketIn(folder: string): string {
  const socket = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith(".sock"));
  if (socket === undefined) throw new Error("the portal has no socket");
  return path.join(folder, socket);
}

/** Measures what the way through the market adds to a page, and the memory of both processes, idle and with many streams. */
export async function benchProcesses(duration: number): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const server = await startSpotwire("counted", { PORTAL: "on", LIVE_FEED: "push", TMPDIR: folder });
  const clients = startClients();
  try {
    const socketPath = socketIn(folder);
    await loadPages(server.url, duration);
    const idleMemory = await memoryOfBoth(server);
    const through: number[] = [];
    const direct: number[] = [];
    const marketMs: number[] = [];
    for (let round = 0; round < ROUNDS_COUNT; round += 1) {
      direct.push((duration * 1000) / (await loadPages(server.url, duration, socketPath)));
      const before = server.cpuSeconds();
      const pages = await loadPages(server.url, duration);
      marketMs.push(((server.cpuSeconds() - before) * 1000) / pages);
      through.push((duration * 1000) / pages);
    }
    const tickers = listingsOf(TICKERS_COUNT).map(({ ticker }) => ticker);
    const audience = audienceOf(tickers, SOCKETS_COUNT, TICKERS_EACH_COUNT);
    await clients.open({ url: server.url, dialect: "raw", key: server.liveKey, audience });
    await seconds(SETTLE_S);
    return [
      { what: `${PAGE} on the portal's own socket`, value: `${medianOf(direct).toFixed(2)} ms a page` },
      {
        what: `${PAGE} through the market`,
        value:
          `${medianOf(through).toFixed(2)} ms a page, ${(medianOf(through) / medianOf(direct)).toFixed(2)} × direct; ` +
          `${medianOf(marketMs).toFixed(2)} ms of the market's processor time`,
      },
      { what: "resident memory, idle", value: idleMemory },
      { what: `resident memory with ${SOCKETS_COUNT} streams`, value: await memoryOfBoth(server) },
    ];
  } finally {
    await Promise.all([server.stop(), clients.stop()]);
  }
}
