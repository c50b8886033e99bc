import { chown, copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { type CertificateMaker, certificateMaker, type ServerCertificate } from "#lib/testing/certificates";
import { migrate } from "#prisma/migrate";
import { openDatabase } from "#server/store/database/db";
import { execute, onDatabase } from "#server/testing/database-server";
import { withConnection } from "./backup/connection";
import { startEmbeddedPostgres } from "./embedded/embedded-postgres";

const maker = await certificateMaker();
const withOpenssl = maker === undefined ? describe.skip : describe;
const title = `PostgreSQL over TLS${maker === undefined ? " (skipped: no openssl here)" : ""}`;

withOpenssl(title, () => {
  const { issue, close } = maker as CertificateMaker;
  let folder: string;
  let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
  let trusted: ServerCertificate;
  let other: ServerCertificate;

  /** Installs a certificate in the running server, which reads it for new connections. */
  async function install({ certFile, keyFile }: ServerCertificate): Promise<void> {
    const cluster = path.join(folder, "postgres");
    const { uid, gid } = await stat(cluster);
    for (const [from, name] of [
      [certFile, "server.crt"],
      [keyFile, "server.key"],
    ] as const) {
      await copyFile(from, path.join(cluster, name));
      await chown(path.join(cluster, name), uid, gid);
    }
    await execute(server.url, "ALTER SYSTEM SET ssl = on");
    await execute(server.url, "SELECT pg_reload_conf()");
  }

  /** The URL over TLS by name, because certificates name hosts. */
  function urlWith(parameters: Record<string, string>, database = "postgres"): string {
    const url = new URL(onDatabase(server.url, database));
    url.hostname = "localhost";
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }
  const open = (url: string) => openDatabase({ url, poolSize: 1, waitS: 30, clock: systemClock, log: createLog("silent") });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "spotwire tls "));
    server = await startEmbeddedPostgres({ dataDir: folder, log: createLog("silent"), settings: { fsync: "off" } });
    [trusted, other] = await Promise.all([issue("localhost"), issue("localhost")]);
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    await close();
  });

  test("a server without TLS is refused at once when TLS is asked for", async () => {
    const plain = urlWith({ sslmode: "verify-full", sslrootcert: trusted.caFile });
    await expect(open(plain)).rejects.toThrow(
      /No trusted connection to the database at localhost:.*does not support SSL.*Check sslmode/,
    );
  });

  test("with the CA of the server, migrations, the pool, Prisma and backups go over TLS", async () => {
    await install(trusted);
    await execute(server.url, "CREATE DATABASE over_tls");
    const url = urlWith({ sslmode: "verify-full", sslrootcert: trusted.caFile }, "over_tls");
    const isSafe = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    expect((await migrate(url)).length).toBeGreaterThan(0);
    const database = await open(url);
    try {
      expect((await database.pool.query(isSafe)).rows).toEqual([{ ssl: true }]);
      expect(await database.prisma.$queryRawUnsafe(isSafe)).toEqual([{ ssl: true }]);
      const client = database.client();
      await client.connect();
      expect((await client.query(isSafe)).rows).toEqual([{ ssl: true }]);
      await client.end();
    } finally {
      await database.close();
    }
    expect(await withConnection(url, async (client: pg.Client) => (await client.query(isSafe)).rows)).toEqual([{ ssl: true }]);
  });

  test("another CA, no CA, and a certificate of another host are refused at once, with the reason and without the password", async () => {
    await install(trusted);
    const password = new URL(server.url).password;
    const refused = async (parameters: Record<string, string>, reason: RegExp) => {
      const failure = await open(urlWith(parameters)).then(
        () => new Error("it was accepted"),
        (error: Error) => error,
      );
      expect(failure.message).toMatch(/^No trusted connection to the database at localhost:\d+\/postgres: /);
      expect(failure.message).toMatch(reason);
      expect(failure.message).not.toContain(password);
    };
    await refused({ sslmode: "verify-full", sslrootcert: other.caFile }, /certificate/);
    await refused({ sslmode: "verify-full" }, /certificate/);
    const elsewhere = await issue("db.example.com");
    await install(elsewhere);
    await expect
      .poll(async () => {
        const asked = new URL(urlWith({ sslmode: "verify-full", sslrootcert: elsewhere.caFile }));
        return open(asked.href).catch((error: Error) => error.message);
      })
      .toMatch(/does not match certificate's altnames/);
  });
});
