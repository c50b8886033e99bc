import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { operations } from "#lib/operations/declarations";
import { missing } from "#lib/testing/packages";
import { MIB_BYTES } from "#lib/units";
import { mountTestDisk, type TestDisk } from "#server/testing/disk";
import { keyHolder, makeLiveKey } from "../commands";
import { recipeOf, type StartedProxy, startCaddy, startNginx } from "../proxies";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "../server";
import { startCluster } from "./cluster";
import { freeze, pushOnAndOn, serverIn, storedTicks, TICKER } from "./embedded";
import { OPEN_TICKER } from "./market";
import { REDIS_PROGRAM } from "./scene";
import { print } from "./verdict";

const QUOTES = `${operations.latestQuotes.path}?tickers=${TICKER}`;
const SOON = { interval: 20 };
const FROZEN_MS = 30_000;
/** Caddy's `health_timeout`: a node that takes longer to say whether it is ready leaves the balancer. */
const BALANCER_MAX_MS = 2_000;
/** Looks at a node without a key are limited. */
const PACED = { timeout: 120_000, interval: 200 };

/** What a balancer hears from a node, and how long it takes. */
async function readiness({ baseUrl }: Pick<Product, "baseUrl">) {
  const begun = performance.now();
  const response = await fetch(`${baseUrl}/api/ready`, { signal: AbortSignal.timeout(BALANCER_MAX_MS) });
  const { status: state, checks } = (await response.json()) as { status: string; checks: Record<string, string> };
  return { status: response.status, state, checks, ms: performance.now() - begun };
}

const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
const spread = (times: readonly number[]) => `${median(times).toFixed(1)} ms (at most ${Math.max(...times).toFixed(1)} ms)`;

describe("faults of the embedded database", () => {
  let product: Product | undefined;
  let disk: TestDisk | undefined;
  afterEach(async () => {
    await product?.dispose();
    disk?.unmount();
    [product, disk] = [undefined, undefined];
  }, SERVER_TIMEOUT_MS);

  async function start(variables: Readonly<Record<string, string>>) {
    const started = await startProduct({ LIVE_FEED: "push", ...variables });
    product = started;
    const dataDir = variables.DATA_DIR ?? started.dataDir;
    const operated = { ...started, dataDir };
    const [ingest, read] = [await makeLiveKey(operated, "market:ingest"), await makeLiveKey(operated, "market:read")];
    return { started, dataDir, pusher: keyHolder(started, ingest), reader: keyHolder(started, read) };
  }

  test(
    "a database that is killed is started again, every process of the node goes on, and every acknowledged tick is stored",
    async () => {
      const { started, dataDir, pusher, reader } = await start({ WORKERS: "2" });
      const pushing = pushOnAndOn(pusher);
      await vi.waitUntil(() => pushing.acknowledged() > 20, SOON);
      const { postmaster } = await serverIn(dataDir);
      const killedMs = performance.now();
      process.kill(postmaster, "SIGKILL");
      await vi.waitUntil(() => storedTicks(dataDir).catch(() => 0), SOON);
      const backMs = performance.now() - killedMs;
      const before = pushing.acknowledged();
      await vi.waitUntil(() => pushing.acknowledged() > before + 20, SOON);
      const acknowledged = await pushing.stop();
      await vi.waitFor(async () => expect(await storedTicks(dataDir)).toBe(acknowledged), SOON);
      // Of the edge workers, then of the portal's process.
      for (let worker = 0; worker < 4; worker += 1)
        await vi.waitFor(async () => {
          const klines = `${operations.klines.path}?ticker=${TICKER}&timeframe=M1&limit=${400 + worker}`;
          expect((await reader.call(klines)).status).toBe(200);
        }, SOON);
      const headers = { origin: started.baseUrl, "content-type": "application/json" };
      const forgot = { method: "POST", key: null, headers, body: JSON.stringify({ email: "ada@example.com" }) };
      await vi.waitFor(async () => expect((await reader.call("/api/portal/forgot", forgot)).status).toBe(200), SOON);
      await vi.waitFor(
        async () => expect(await readiness(started)).toMatchObject({ status: 200, checks: { store: "ok" } }),
        SOON,
      );
      const after = /"after_ms":(\d+)[^\n]*runs again/.exec(started.output())?.[1];
      print(`database killed: it ran again after ${after} ms and answered after ${backMs.toFixed(0)} ms; ${acknowledged} ticks`);
    },
    2 * SERVER_TIMEOUT_MS,
  );

  test(
    "a database that is frozen for 30 s is left alone: the node stays in the balancer, and every acknowledged tick is stored",
    async () => {
      const { started, dataDir, pusher, reader } = await start(API_ONLY);
      const pushing = pushOnAndOn(pusher);
      await vi.waitUntil(() => pushing.acknowledged() > 20, SOON);
      // A key that was never verified needs the database.
      await vi.waitFor(async () => expect((await reader.call(QUOTES)).status).toBe(200), SOON);
      const thaw = await freeze(dataDir);
      const sinceMs = performance.now();
      const [ready, quotes]: [number[], number[]] = [[], []];
      const states = new Set<string>();
      try {
        await vi.waitUntil(async () => {
          const said = await readiness(started);
          expect(said.status).toBe(200);
          states.add(`${said.state}: ${said.checks.store}`);
          ready.push(said.ms);
          const begun = performance.now();
          expect((await reader.call(QUOTES)).status).toBe(200);
          quotes.push(performance.now() - begun);
          return performance.now() - sinceMs >= FROZEN_MS;
        }, PACED);
      } finally {
        thaw();
      }
      expect([...states]).toContain("degraded: the database does not answer");
      await vi.waitFor(async () => expect((await readiness(started)).checks.store).toBe("ok"), SOON);
      const acknowledged = await pushing.stop();
      await vi.waitFor(async () => expect(await storedTicks(dataDir)).toBe(acknowledged), SOON);
      expect(started.output()).not.toContain("ended by itself");
      print(`database frozen 30 s: readiness took ${spread(ready)}, quotes ${spread(quotes)}; ${acknowledged} ticks`);
    },
    2 * SERVER_TIMEOUT_MS,
  );

  test(
    "a service whose database cannot be started again ends by itself with exit code 3, and says why",
    async () => {
      const { started, dataDir } = await start(API_ONLY);
      const { postmaster } = await serverIn(dataDir);
      await rename(join(dataDir, "postgres", "global"), join(dataDir, "global"));
      process.kill(postmaster, "SIGKILL");
      const gone = "the embedded database ended and cannot be started again; stopping";
      await vi.waitUntil(() => started.output().includes(gone), { timeout: 120_000, interval: 100 });
      await vi.waitFor(() => expect(fetch(`${started.baseUrl}/api/health`)).rejects.toThrow(), SOON);
      expect(await started.stop()).toBe(3);
      expect(started.output()).toMatch(/"reason":"The embedded PostgreSQL did not start.*global/);
    },
    2 * SERVER_TIMEOUT_MS,
  );

  test(
    "a disk that fills refuses pushes before the database fails, and a start on a full disk says what is wrong",
    async ({ skip }) => {
      disk = mountTestDisk("700m");
      skip(disk === undefined, "no disk may be mounted here");
      const { folder, fill } = disk as TestDisk;
      const { started, dataDir, pusher, reader } = await start({ ...API_ONLY, DATA_DIR: folder, DISK_RESERVE_MIB: "128" });
      const pushing = pushOnAndOn(pusher);
      await vi.waitUntil(() => pushing.acknowledged() > 20, SOON);
      const free = await fill(64 * MIB_BYTES);
      await vi.waitUntil(() => pushing.refusal() !== "", SOON);
      expect(pushing.refusal()).toBe(
        "503 The disk of the service is almost full, so ticks and klines are not accepted right now.",
      );
      const said = await readiness(started);
      expect(said).toMatchObject({ status: 200, state: "degraded", checks: { store: "ok" } });
      expect(said.checks.disk).toMatch(/^\d+ MiB are free, fewer than the reserve of 128 MiB; pushes are refused$/);
      expect((await reader.call(QUOTES)).status).toBe(200);
      expect(await (await fetch(`${started.baseUrl}/metrics`)).text()).toMatch(/spotwire_disk_free_bytes\{disk="data"\} \d+/);
      await free();
      const before = pushing.acknowledged();
      await vi.waitUntil(() => pushing.acknowledged() > before, SOON);
      const acknowledged = await pushing.stop();
      await vi.waitFor(async () => expect(await storedTicks(dataDir)).toBe(acknowledged), SOON);
      await started.stop();
      await fill(0);
      const restarted = started.restart();
      await expect(restarted).rejects.toThrow(/The disk of .* is full, so the embedded PostgreSQL cannot start/);
      await expect(restarted).rejects.not.toThrow(/HINT|last backup/);
    },
    2 * SERVER_TIMEOUT_MS,
  );
});

describe.skipIf(REDIS_PROGRAM === undefined)("balancers", () => {
  test(
    "nodes whose database hangs stay in the shipped load balancers, which pass every call for quotes",
    async ({ skip }) => {
      const absent = missing("caddy", "nginx");
      skip(absent !== null, absent ?? "");
      const folder = mkdtempSync(join(tmpdir(), "spotwire-balancers-"));
      chmodSync(folder, 0o755);
      onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
      const dataDir = join(folder, "database");
      const cluster = await startCluster(REDIS_PROGRAM ?? "", dataDir);
      onTestFinished(cluster.dispose, SERVER_TIMEOUT_MS);
      const upstreams = cluster.edges.map(({ url }) => new URL(url).host);
      const balancers: StartedProxy[] = [];
      onTestFinished(async () => {
        for (const { stop } of balancers) await stop();
      });
      balancers.push(await startCaddy(await recipeOf("deploy", "bash", "caddy run"), upstreams));
      balancers.push(await startNginx(readFileSync("server/deploy/nginx.conf", "utf8"), upstreams));
      const path = `${operations.instruments.path}?limit=1`;
      const headers = { authorization: `Bearer ${cluster.keys.read}` };
      const call = async (url: string) => (await fetch(url + path, { headers })).status;
      // Each edge verifies the key once.
      for (const url of [...cluster.edges.map((edge) => edge.url), ...balancers.map(({ url }) => url)])
        await vi.waitFor(async () => expect(await call(url)).toBe(200), SOON);
      const status = operations.marketStatus.path;
      const thaw = await freeze(dataDir);
      const times: number[] = [];
      let ready: number[] = [];
      try {
        const degraded = async () => {
          const said = await Promise.all(cluster.edges.map(({ url }) => readiness({ baseUrl: url })));
          ready = [...ready, ...said.map(({ ms }) => ms)];
          expect(said.map(({ status }) => status)).toEqual([200, 200]);
          return said.every(({ checks }) => checks.store === "the database does not answer");
        };
        await vi.waitUntil(degraded, PACED);
        // Longer than any query may take: several health checks of Caddy fall into it.
        const sinceMs = performance.now();
        await vi.waitUntil(async () => {
          for (const { url } of balancers) {
            const begun = performance.now();
            expect((await fetch(`${url}${status}?tickers=${OPEN_TICKER}`, { headers })).status).toBe(200);
            times.push(performance.now() - begun);
          }
          await degraded();
          return performance.now() - sinceMs >= FROZEN_MS / 2;
        }, PACED);
      } finally {
        thaw();
      }
      print(`database hangs behind Caddy and nginx: ${times.length} calls took ${spread(times)}, readiness ${spread(ready)}`);
    },
    2 * SERVER_TIMEOUT_MS,
  );
});
