import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { STREAM_PROTOCOL } from "#lib/contract/stream";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { reservePort } from "#lib/testing/ports";
import { findRedis, type RedisServer, startRedis } from "#lib/testing/redis-server";
import { query } from "#server/testing/backups";
import { type BreakablePostgres, startBreakablePostgres } from "#server/testing/breakable-postgres";
import { testDatabase } from "#server/testing/database";
import { stranger } from "../client";
import { type MadeKey, makeKey, runCommand } from "../commands";
import { createFeeder, type Feeder } from "../feeder";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "../server";
import { openSocket } from "../socket";
import { LAST_RELEASE, LAST_RELEASE_TIMEOUT_MS, lastRelease, missingRelease } from "./last-release";

const SECRET = "of an installation that is being upgraded";
const MARKET = "/api/v1/market";
const CALL = `${MARKET}/status?tickers=EURUSD`;
const QUOTA_COUNT = 10;
const POINTS = [
  [108_540, 108_548],
  [108_555, 108_562],
] as const;
const WAIT = { interval: 50 };

const redisProgram = findRedis();
const missing = redisProgram === undefined ? "no Redis here" : await missingRelease();

/** The last release and this version, on one PostgreSQL and one Redis; the last release has made the database. */
describe.skipIf(missing !== undefined)(
  `${LAST_RELEASE.version} and this version, side by side${missing ? ` (skipped: ${missing})` : ""}`,
  () => {
    let folder: string;
    let old: Product;
    let now: Product;
    let oldFolder: string;
    let postgres: BreakablePostgres;
    let redis: RedisServer;
    let operated: Parameters<typeof makeKey>[0];
    let reader: MadeKey;
    let ingest: MadeKey;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "spotwire-releases-"));
      await chmod(folder, 0o755);
      [oldFolder, postgres, redis] = await Promise.all([
        lastRelease(),
        startBreakablePostgres(folder),
        startRedis(redisProgram ?? ""),
      ]);
      const stores = { DATABASE_URL: postgres.url(), REDIS_URL: redis.url };
      const variables = async () => {
        const port = await reservePort();
        const node = { PORT: `${port}`, NODE_URL: `http://127.0.0.1:${port}`, TRUSTED_PROXIES: "127.0.0.1" };
        return { ...API_ONLY, ...stores, ...node, NEXTAUTH_SECRET: SECRET, LIVE_FEED: "push" };
      };
      // The last release does not know all filters that tests switch off.
      old = await startProduct({ ...(await variables()), TICK_FILTERS_OFF: "market_closed,spike" }, { folder: oldFolder });
      now = await startProduct(await variables());
      operated = { dataDir: folder, variables: { ...stores, NEXTAUTH_SECRET: SECRET } };
      reader = await makeKey(operated, { venue: "live", scopes: "market:read,market:stream", account: "reader" });
      ingest = await makeKey(operated, { venue: "live", scopes: "market:ingest", account: "feeder" });
    }, SERVER_TIMEOUT_MS + LAST_RELEASE_TIMEOUT_MS);
    afterAll(async () => {
      await Promise.all([old?.dispose(), now?.dispose()]);
      await Promise.all([postgres?.stop(), redis?.stop()]);
      await rm(folder, { recursive: true, force: true });
    }, SERVER_TIMEOUT_MS);

    const both = () => [old, now] as const;
    const at = ({ baseUrl }: Product, { text }: MadeKey) => stranger(baseUrl, "198.51.100.1", text);
    const feederAt = (product: Product): Feeder => createFeeder(at(product, ingest));
    const pushOnce = (product: Product) => {
      const feeder = feederAt(product);
      return feeder.push(feeder.ticks("GBPUSD", POINTS));
    };
    const leads = ({ baseUrl }: Product) =>
      vi.waitFor(async () => {
        const holders = await query<{ holder: string }>(postgres.url(), "SELECT DISTINCT holder FROM venue_lease");
        expect(holders).toEqual([{ holder: baseUrl }]);
      }, WAIT);

    /** What every node gives, whichever version leads. */
    function describeAgreement(): void {
      test("ticks pushed to either are taken, and both stream and answer the same records, byte for byte", async () => {
        const sockets = await Promise.all(both().map(({ baseUrl }) => openSocket(baseUrl, { key: reader.text })));
        for (const socket of sockets) {
          await socket.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
          await socket.ask("subscribe", { stream: "kline", tickers: ["EURUSD"], timeframe: "H1" });
        }
        for (const product of both()) {
          const feeder = feederAt(product);
          const ticks = feeder.ticks("EURUSD", POINTS);
          expect(await feeder.push(ticks)).toMatchObject({ accepted: POINTS.length, rejected: 0 });
          const { time_msc } = ticks.at(-1) ?? { time_msc: 0 };
          const texts = sockets.map(async (socket) => {
            const quote = await socket.next("quote", ({ event, data }) => event === "update" && data.time_msc === time_msc);
            const kline = await socket.next("kline", ({ event }) => event === "update");
            return [quote.text, kline.epoch];
          });
          const [first, second] = await Promise.all(texts);
          expect(first).toEqual(second);
        }
        for (const path of [
          "/quotes/latest?tickers=EURUSD",
          "/snapshots/latest?tickers=EURUSD",
          "/klines?ticker=EURUSD&timeframe=M1&limit=3",
        ]) {
          const answers = await Promise.all(both().map((product) => at(product, reader).call(MARKET + path)));
          expect(answers.map(({ status }) => status)).toEqual([200, 200]);
          const [one, other] = answers.map(({ data }) => JSON.stringify(data.items));
          expect(one, path).toBe(other);
        }
        for (const socket of sockets) socket.close();
      });

      test("a stream that moves to a node of the other version resumes there", async () => {
        for (const [from, to] of [
          [old, now],
          [now, old],
        ] as const) {
          const left = await openSocket(from.baseUrl, { key: reader.text });
          await left.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
          const { epoch, seq } = await left.next("quote", ({ event }) => event === "snapshot");
          left.close();
          const feeder = feederAt(from);
          await feeder.push(feeder.ticks("EURUSD", POINTS));
          const joined = await openSocket(to.baseUrl, { key: reader.text });
          const ack = await joined.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], resume: { epoch, seq } });
          expect(ack).toMatchObject({ data: { resumed: ["EURUSD"] } });
          for (const step of [1, 2])
            expect(await joined.next("quote", ({ event }) => event === "update")).toMatchObject({ epoch, seq: seq + step });
          joined.close();
        }
      });

      test("a new key works on both, and stops on both when it is revoked", async () => {
        const key = await makeKey(operated, { venue: "live", scopes: "market:read,market:stream" });
        const sockets = await Promise.all(both().map(({ baseUrl }) => openSocket(baseUrl, { key: key.text })));
        // A stream without a subscription is closed after ten seconds, and the command may take longer.
        for (const socket of sockets) await socket.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
        await runCommand(operated, "keys", ["revoke", key.id]);
        for (const socket of sockets) expect(await socket.closed()).toMatchObject({ code: 4401 });
        for (const product of both()) expect(await at(product, key).call(CALL)).toMatchObject({ status: 401 });
      });

      test("both take calls from one bucket", async () => {
        const limits = ["--rest-per-minute", `${QUOTA_COUNT}`, "--rest-burst", `${QUOTA_COUNT}`];
        const made = await runCommand(operated, "keys", [
          "create",
          "--name",
          "Small",
          "--account",
          "small",
          "--plan",
          "pro",
          ...limits,
        ]);
        const text = /^(sw_live_\w+)$/m.exec(made.output)?.[1] ?? "";
        const taken: number[] = [];
        for (let call = 0; call < QUOTA_COUNT; call += 1)
          for (const product of both()) taken.push((await at(product, { id: "", text }).call(CALL)).status);
        // Two buckets would have let every call pass.
        expect(taken.filter((status) => status === 200).length, String(taken)).toBe(QUOTA_COUNT);
        expect(taken.slice(-2)).toEqual([429, 429]);
      });

      test("a ticket of either version opens one stream on the other, once", async () => {
        for (const [from, to] of [
          [old, now],
          [now, old],
        ] as const) {
          const { data } = await at(from, reader).call(`${MARKET}/stream/tickets`, { method: "POST" });
          const protocols = [STREAM_PROTOCOL, TICKET_PROTOCOL_PREFIX + String(data.ticket)];
          const socket = await openSocket(to.baseUrl, { protocols });
          await socket.next("welcome");
          for (const { baseUrl } of both())
            await expect(openSocket(baseUrl, { protocols })).rejects.toMatchObject({ status: 401 });
          socket.close();
        }
      });
    }

    describe(`while ${LAST_RELEASE.version} leads, and this version has migrated its database`, () => {
      beforeAll(() => leads(old));
      describeAgreement();
    });

    describe(`while this version leads, and ${LAST_RELEASE.version} follows`, () => {
      beforeAll(async () => {
        // It loses the lease, and runs on: what has migrated the database lets no earlier release start.
        process.kill(old.pid, "SIGSTOP");
        await leads(now).finally(() => process.kill(old.pid, "SIGCONT"));
        // It has the lease before it leads, and each node hears of that by itself. Until then pushes are refused: try again.
        await vi.waitFor(() => Promise.all(both().map(pushOnce)), WAIT);
      }, SERVER_TIMEOUT_MS);
      describeAgreement();
    });

    test(`a node of ${LAST_RELEASE.version} sends its clients away when it stops, and does not start again`, async () => {
      const follower = await openSocket(old.baseUrl, { key: reader.text });
      const stopped = old.stop();
      expect(await follower.next("server_shutdown")).toMatchObject({ reconnect_after_ms: expect.any(Number) });
      expect(await follower.closed()).toMatchObject({ code: 1001 });
      expect(await stopped).toBe(0);
      await expect(old.restart()).rejects.toThrow(/ended with 2 .*newer Spotwire.*Use the newer version/s);
    });
  },
);

test("a database that a newer version has migrated is refused in words, with the exit code for what starting again cannot mend", async () => {
  const database = await testDatabase();
  await database.pool.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
    VALUES ('of a newer version', 'unknown', '9999_later', now())`);
  const start = startProduct({ ...API_ONLY, DATABASE_URL: database.url, NEXTAUTH_SECRET: SECRET });
  await expect(start).rejects.toThrow(/ended with 2 .*newer Spotwire: it has 9999_later.*restore a backup/s);
  await database.close();
});
