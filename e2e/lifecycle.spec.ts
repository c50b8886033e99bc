import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { encode } from "next-auth/jwt";
import pg from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { reservePort } from "#lib/testing/ports";
import { DAY_S } from "#lib/units";
import { stranger } from "./client";
import { makeKey } from "./commands";
import { API_ONLY, type Product, portalPid, SERVER_TIMEOUT_MS, startProduct } from "./server";

const CASE_TIMEOUT_MS = 3 * SERVER_TIMEOUT_MS;

let running: Product | undefined;

afterEach(async () => {
  await running?.dispose();
  running = undefined;
}, SERVER_TIMEOUT_MS);

/** The body of a window of closed klines. */
async function closedWindow({ baseUrl, demoKey }: Product): Promise<string> {
  const to = Math.floor(Date.now() / 1000 / DAY_S) * DAY_S - DAY_S;
  const path = `/api/v1/market/klines?ticker=XAUUSD&timeframe=H1&from=${to - DAY_S}&to=${to}`;
  const { status, text } = await stranger(baseUrl, "198.51.100.1", demoKey).call(path);
  expect(status).toBe(200);
  return text;
}

/** Runs one statement in a database. */
async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

describe("the product", () => {
  test(
    "the product starts on an empty data directory, stops on request, starts again, and answers the same",
    async () => {
      const first = await startProduct({}, { emptyData: true });
      running = first;
      const before = await closedWindow(first);
      expect(await first.stop()).toBe(0);
      running = await first.restart();
      expect(await closedWindow(running)).toBe(before);
    },
    CASE_TIMEOUT_MS,
  );

  test.skipIf(process.platform !== "linux")(
    "the process that serves pages does not load their compiler",
    async () => {
      running = await startProduct();
      const { baseUrl } = running;
      await expect
        .poll(() => fetch(`${baseUrl}/docs/quickstart`).then(({ status }) => status), { timeout: SERVER_TIMEOUT_MS })
        .toBe(200);
      expect(await readFile(`/proc/${await portalPid(running)}/maps`, "utf8")).not.toContain("/node_modules/@next/swc");
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "the product starts again after a kill, and answers the same",
    async () => {
      const first = await startProduct();
      running = first;
      const before = await closedWindow(first);
      await first.kill9();
      running = await first.restart();
      expect(await closedWindow(running)).toBe(before);
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "a second instance on the same data is refused with a message, and the first continues",
    async () => {
      running = await startProduct(API_ONLY);
      await expect(running.restart()).rejects.toThrow(running.dataDir);
      expect(await closedWindow(running)).toContain('"code":0');
    },
    CASE_TIMEOUT_MS,
  );

  test("an invalid variable is named and prevents the start", async () => {
    await expect(startProduct({ ...API_ONLY, LIVE_FEED: "carrier-pigeon" })).rejects.toThrow(/LIVE_FEED/);
  });

  test(
    "a node without pages warns of keys that expire soon, as one with pages does",
    async () => {
      running = await startProduct(API_ONLY);
      await makeKey(running, { venue: "sandbox", scopes: "market:read" });
      for (const pages of [API_ONLY, { PORTAL: "on" }]) {
        const { url } = JSON.parse(await readFile(path.join(running.dataDir, "postgres.json"), "utf8")) as { url: string };
        // Make the key an old one that expires soon, and whose owner has not been warned.
        await execute(
          url,
          "UPDATE api_key SET created_at = now() - interval '1 year', expires_at = now() + interval '3 days', expiry_told_at = NULL",
        );
        await running.stop();
        running = await running.restart(pages);
        const { output } = running;
        await vi.waitFor(() => expect(output()).toContain("an alert goes to nobody by email"), 60_000);
      }
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "the commands with which Compose and Kubernetes make backups make one of a running product",
    async () => {
      running = await startProduct(API_ONLY);
      const chart = "server/deploy/helm/spotwire";
      const { backup } = parse(await readFile(`${chart}/values.yaml`, "utf8")) as { backup: { keepDays: number } };
      const [, words = ""] = /command:\n((?: +- .+\n)+)/.exec(await readFile(`${chart}/templates/backup.yaml`, "utf8")) ?? [];
      const command = (parse(words.replace(/\{\{.*\}\}/, String(backup.keepDays))) as string[]).join(" ");
      const [, looped = ""] = /if (node .*); then/.exec(await readFile("compose.yaml", "utf8")) ?? [];
      const folder = path.join(running.dataDir, "backups");
      const quoted = `'${folder}'`;
      for (const line of [command.replace("/backups", quoted), looped.replace("/data/backups", quoted)]) {
        const env = { ...process.env, NODE_ENV: "production", DATA_DIR: running.dataDir } as NodeJS.ProcessEnv;
        const { status, stderr } = spawnSync("sh", ["-c", line], { env, encoding: "utf8" });
        expect(status, stderr).toBe(0);
      }
      expect((await readdir(folder)).map((name) => name.replace(/\d/g, "0"))).toEqual(
        Array(2).fill("spotwire-0000-00-00T00-00-00.000Z.backup"),
      );
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "with METRICS_TOKEN and METRICS_PORT, /metrics and /api/ready need the token at the port of clients, and none at the other, also with workers",
    async () => {
      const token = "a token of this test";
      const port = await reservePort();
      running = await startProduct({ ...API_ONLY, WORKERS: "2", METRICS_TOKEN: token, METRICS_PORT: String(port) });
      for (const path of ["/metrics", "/api/ready"]) {
        const status = async (base: string, headers = {}) => (await fetch(base + path, { headers })).status;
        expect(await status(running.baseUrl)).toBe(401);
        expect(await status(running.baseUrl, { authorization: "Bearer another token" })).toBe(401);
        expect(await status(running.baseUrl, { authorization: `Bearer ${token}` })).toBe(200);
        expect(await status(`http://127.0.0.1:${port}`)).toBe(200);
      }
      expect((await fetch(`${running.baseUrl}/api/health`)).status).toBe(200);
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "everything that the product prints is a JSON line: its start, a failed page, an error of PostgreSQL, a worker that dies, refused starts",
    async () => {
      const secret = "a secret of this test, which is long enough";
      const product = await startProduct({ WORKERS: "2", NEXTAUTH_SECRET: secret });
      running = product;
      const { url } = JSON.parse(await readFile(path.join(product.dataDir, "postgres.json"), "utf8")) as { url: string };
      await expect(execute(url, "SELECT no_such_function()")).rejects.toThrow("no_such_function");
      await execute(url, "ALTER TABLE portal_session RENAME TO portal_session_gone");
      const token = await encode({ secret, token: { sid: "11111111-1111-4111-8111-111111111111" } });
      const page = await fetch(`${product.baseUrl}/dashboard`, { headers: { cookie: `spotwire.session=${token}` } });
      expect(page.status).toBe(500);
      const lines = () =>
        product
          .output()
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as { level: string; msg: string; process?: string; pid?: number });
      await expect
        .poll(() => lines().filter(({ level, process: by }) => level === "error" && by === "portal"))
        .toContainEqual(expect.objectContaining({ msg: expect.stringContaining("portal_session") }));
      const worker = lines().find(({ msg }) => msg === "an edge worker serves clients")?.pid ?? 0;
      process.kill(worker, "SIGKILL");
      await expect.poll(() => lines().map(({ msg }) => msg)).toContain("an edge worker ended; starting it again");
      await execute(url, "ALTER TABLE portal_session_gone RENAME TO portal_session");
      for (const [changes, words] of [
        [{}, "is in use by process"],
        [{ LIVE_FEED: "carrier-pigeon" }, "LIVE_FEED"],
      ] as const) {
        const refused: unknown = await product.restart(changes).catch((error: unknown) => error);
        const [, printed = ""] = /before it was up:\n([\s\S]*)/.exec(String(refused)) ?? [];
        const said = printed
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as { level: string; msg: string });
        expect(said).toEqual([expect.objectContaining({ level: "fatal", msg: expect.stringContaining(words) })]);
      }
      expect(await product.stop()).toBe(0);
      expect(lines().length).toBeGreaterThan(5);
    },
    CASE_TIMEOUT_MS,
  );
});
