import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { Stranger } from "../client";
import { createFeeder } from "../feeder";

export const TICKER = "EURUSD";

/** PostgreSQL's server in a data directory, and all of its processes. */
export async function serverIn(dataDir: string): Promise<{ postmaster: number; all: number[] }> {
  const postmaster = Number((await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n")[0]);
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const parentOf = async (pid: number) => {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  };
  const parents = await Promise.all(pids.map(parentOf));
  return { postmaster, all: [postmaster, ...pids.filter((_, index) => parents[index] === postmaster)] };
}

/** Suspends a server with all of its processes; the returned function lets them go on. */
export async function freeze(dataDir: string): Promise<() => void> {
  const { all } = await serverIn(dataDir);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of all) process.kill(pid, name);
  };
  signal("SIGSTOP");
  return () => signal("SIGCONT");
}

/** The ticks that are stored, by the database itself. */
export async function storedTicks(dataDir: string): Promise<number> {
  const { url } = JSON.parse(await readFile(join(dataDir, "postgres.json"), "utf8")) as { url: string };
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query("SELECT coalesce(sum(tick_volume), 0)::int AS ticks FROM kline_tail");
  await client.end();
  return (rows[0] as { ticks: number }).ticks;
}

/** Pushes one tick after the other until stopped, or until the service is gone; resolves to how many were acknowledged. */
export function pushOnAndOn(caller: Stranger) {
  const feeder = createFeeder(caller);
  let acknowledged = 0;
  let refusal = "";
  let stopping = false;
  async function run(): Promise<void> {
    for (let round = 0; !stopping; round += 1) {
      const bid = 108_500 + (round % 40);
      const answer = await feeder.post(feeder.ticks(TICKER, [[bid, bid + 8]])).catch(() => null);
      if (answer === null) return;
      if (answer.status === 200) acknowledged += (answer.data as { accepted: number }).accepted;
      else refusal = `${answer.status} ${String(answer.data.detail)}`;
    }
  }
  const running = run();
  return {
    acknowledged: () => acknowledged,
    refusal: () => refusal,
    async stop(): Promise<number> {
      stopping = true;
      await running;
      return acknowledged;
    },
  };
}
