import { createDecipheriv, hkdfSync, scryptSync } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashKey } from "#lib/access/key-format";
import { systemClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import type { Kline } from "#lib/domain/kline";
import { createLog } from "#lib/log";
import { applyInTransaction, migrate, migrationNames } from "#prisma/migrate";
import { acquireDatabase } from "#server/database/database";
import { findKey } from "#server/store/access/find-key";
import { createKey } from "#server/store/access/keys";
import { createKlineStore } from "#server/store/klines/kline-store";
import { recordBackup } from "#server/store/market/backup-runs";
import { BACKUP_NOW_MS, type BackupBench, backupBench, contentOf, query, runBackup, shapeOf } from "#server/testing/backups";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeTail } from "#server/testing/layered";
import { TEST_SECRET } from "#server/testing/runtime";

const KLINES_COUNT = 60_000;
const FIRST_S = Date.UTC(2022, 11, 1) / 1000;

let bench: BackupBench;
let source: TestDatabase;
let keyText: string;

const klines = Array.from({ length: KLINES_COUNT }, (_, index): Kline => {
  const low = 1 + Math.random();
  const time = FIRST_S + index * 60;
  // Numbers that need 17 digits, and the limits of the number types.
  const odd = [0.1 + 0.2, Number.MIN_VALUE, Number.MAX_VALUE, 2 ** 53 - 1, 1 / 3][index % 5] ?? 0;
  return {
    ...klineExample,
    timeframe: "M1",
    time,
    spread: index % 11 === 0 ? null : odd,
    real_volume: index % 7 === 0 ? null : odd,
    low,
    open: low + 0.1,
    close: low + Math.random() / 3,
    high: low + 0.5,
  };
});

beforeAll(async () => {
  bench = await backupBench();
  source = await testDatabase();
  await storeTail(source, klines);
  const name = 'tab\there, a \\. and a "quote"\n\\.\nend';
  const account = await source.prisma.account.create({ data: { name, liveAccess: true } });
  const key = { accountId: account.id, name: "ключ", venue: "live", scopes: ["market:read"], origins: [], expiresAt: null };
  const first = await createKey({ db: source, clock: systemClock }, key);
  const second = await createKey({ db: source, clock: systemClock }, key);
  await source.prisma.apiKey.update({ where: { id: first.record.id }, data: { replacedById: second.record.id } });
  keyText = second.text;
  const earlier = new Date(0).toISOString();
  await recordBackup(source.pool, { started_at: earlier, ended_at: earlier, bytes: 1, rows: 1, problem: null });
  await source.pool.query(
    `INSERT INTO request_log (account_id, at, key_id, request_id, operation, method, path, status, code, latency_us, address, user_agent)
     SELECT $1, now(), 'k', n::text, 'klines', 'GET', '/', 200, 0, 1, '::1', '' FROM generate_series(1, 50) n`,
    [account.id],
  );
});
afterAll(async () => {
  await source.close();
  await bench.close();
});

describe("a backup restored", () => {
  test("a restored backup has every row, table, index and sequence, and its API keys work", async () => {
    const file = bench.at("whole.backup");
    const content = await contentOf(source.url);
    expect(await bench.command("backup", source.url, "--to", file)).toMatch(
      /whole\.backup: \d{5} rows of \d+ tables as of 2026-06-01T12:00:00\.000Z/,
    );
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const target = await bench.emptyDatabase();
    await bench.command("restore", target, file);
    expect(await contentOf(target)).toEqual(content);
    expect(await shapeOf(target)).toEqual(await shapeOf(source.url));

    const env = { DATABASE_URL: target, DATA_DIR: bench.at("unused"), DATABASE_POOL_SIZE: 2, DATABASE_WAIT_S: 0 };
    const { db, release } = await acquireDatabase(env, createLog("silent"), systemClock);
    try {
      expect(await findKey(db.pool, systemClock, hashKey(keyText))).toMatchObject({ venue: "live" });
      const asked = { ticker: "EURUSD", timeframe: "M1", from: 0, to: BACKUP_NOW_MS, limit: 1e6, end: "oldest" } as const;
      expect(await createKlineStore(db).read(asked)).toEqual(klines);
      const { rows } = await db.pool.query("SELECT nextval('request_log_id_seq') AS next");
      expect(rows).toEqual([{ next: "51" }]);
    } finally {
      await release();
    }
  });

  test("a restore ends all sessions and voids links in emails, and keeps users and their keys", async () => {
    const old = await bench.emptyDatabase();
    await bench.command("restore", old, bench.at("whole.backup"));
    await query(
      old,
      `INSERT INTO portal_user (id, account_id, email) SELECT gen_random_uuid(), id, 'ann@example.com' FROM account LIMIT 1;
       INSERT INTO portal_session (id, user_id, expires_at) SELECT gen_random_uuid(), id, now() + interval '1 day' FROM portal_user;
       INSERT INTO one_time_token (hash, purpose, user_id, email, expires_at)
         SELECT '\\x00', 'reset', id, email, now() + interval '1 day' FROM portal_user`,
    );
    await bench.command("backup", old, "--to", bench.at("sessions.backup"));
    const target = await bench.emptyDatabase();
    expect(await bench.command("restore", target, bench.at("sessions.backup"))).toContain("All users have to sign in again");
    const counts = `SELECT (SELECT count(*)::int FROM portal_user) AS users, (SELECT count(*)::int FROM api_key) AS keys,
      (SELECT count(*)::int FROM portal_session) AS sessions, (SELECT count(*)::int FROM one_time_token) AS links`;
    expect(await query(old, counts)).toEqual([{ users: 1, keys: 2, sessions: 1, links: 1 }]);
    expect(await query(target, counts)).toEqual([{ users: 1, keys: 2, sessions: 0, links: 0 }]);
  });

  test("a backup is a snapshot of one instant, despite concurrent writes", async () => {
    let [written, writing] = [0, true];
    const writer = (async () => {
      for (; writing; written += 1)
        await source.prisma.$transaction([
          source.prisma.plan.create({
            data: { name: `p${written}`, restPerMinute: 1, restBurst: 1, streamConnections: 1, subscriptionsPerConnection: 1 },
          }),
          source.prisma.account.create({ data: { name: `a${written}`, planName: `p${written}` } }),
        ]);
    })();
    await bench.command("backup", source.url, "--to", bench.at("busy.backup"));
    const after = written;
    writing = false;
    await writer;
    expect(after).toBeGreaterThan(0);
    const target = await bench.emptyDatabase();
    await bench.command("restore", target, bench.at("busy.backup"));
    const [counts] = await query<{ plans: number; accounts: number }>(
      target,
      `SELECT (SELECT count(*)::int FROM plan WHERE name ~ '^p[0-9]+$') AS plans,
        (SELECT count(*)::int FROM account WHERE name ~ '^a[0-9]+$') AS accounts`,
    );
    expect(counts?.plans).toBe(counts?.accounts);
    expect(counts?.plans).toBeLessThanOrEqual(after);
  });

  test("a restore needs no --replace for a database that was started and never used, and one for any use of it", async () => {
    const started = await bench.emptyDatabase();
    const env = { DATABASE_URL: started, DATA_DIR: bench.at("unused"), DATABASE_POOL_SIZE: 2, DATABASE_WAIT_S: 0 };
    await (await acquireDatabase(env, createLog("silent"), systemClock)).release();
    const empty = await bench.emptyDatabase();
    for (const target of [empty, started]) await bench.command("restore", target, bench.at("whole.backup"));
    expect(await contentOf(started)).toEqual(await contentOf(empty));
    for (const use of [
      "INSERT INTO account (id, name) VALUES (gen_random_uuid(), 'mine')",
      "INSERT INTO audit_entry (id, at, actor, action, target) VALUES (gen_random_uuid(), now(), 'me', 'plan.changed', 'free')",
    ]) {
      const used = await bench.emptyDatabase();
      await (await acquireDatabase({ ...env, DATABASE_URL: used }, createLog("silent"), systemClock)).release();
      await query(used, use);
      await expect(bench.command("restore", used, bench.at("whole.backup"))).rejects.toThrow("not empty. Use --replace");
    }
  });

  test("a restored backup of the release before is migrated to this version", async () => {
    const old = await bench.emptyDatabase();
    const client = new pg.Client({ connectionString: old });
    await client.connect();
    await applyInTransaction(client, (await migrationNames()).slice(0, -1));
    await client.query("INSERT INTO plan VALUES ('old', 1, 2, 3, 4)");
    await client.end();
    await bench.command("backup", old, "--to", bench.at("old.backup"));
    const target = await bench.emptyDatabase();
    await bench.command("restore", target, bench.at("old.backup"));
    expect(await query(target, "SELECT rest_burst FROM plan WHERE name = 'old'")).toEqual([{ rest_burst: 2 }]);
    const fresh = await bench.emptyDatabase();
    await bench.command("restore", fresh, bench.at("whole.backup"));
    const [migrated, made] = [await shapeOf(target), await shapeOf(fresh)];
    expect(migrated).toEqual(made);
    expect(migrated.migrations).toHaveLength((await migrationNames()).length);
  });

  test("a restore replaces other data only with --replace", async () => {
    const target = await bench.emptyDatabase();
    await bench.command("restore", target, bench.at("whole.backup"));
    await query(target, "INSERT INTO plan VALUES ('mine', 1, 2, 3, 4)");
    await expect(bench.command("restore", target, bench.at("whole.backup"))).rejects.toThrow("not empty. Use --replace");
    expect(await query(target, "SELECT name FROM plan WHERE name = 'mine'")).toHaveLength(1);
    await bench.command("restore", target, bench.at("whole.backup"), "--replace");
    expect(await query(target, "SELECT name FROM plan WHERE name = 'mine'")).toHaveLength(0);
  });

  test("a restore with --replace goes back from a database of a newer version", async () => {
    const target = await bench.emptyDatabase();
    await bench.command("restore", target, bench.at("whole.backup"));
    await query(
      target,
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '9999_later', now())",
    );
    await query(target, "CREATE TABLE of_a_later_release (id int)");
    await expect(migrate(target)).rejects.toThrow("newer Spotwire");
    await bench.command("restore", target, bench.at("whole.backup"), "--replace");
    expect(await migrate(target)).toEqual([]);
    expect(await query(target, "SELECT to_regclass('of_a_later_release') AS made")).toEqual([{ made: null }]);
  });
});

test("a backup of the embedded database works beside a service, and a restore needs a DATA_DIR that no service uses", async () => {
  const env = (name: string) => ({
    DATABASE_URL: undefined,
    DATA_DIR: bench.at(name),
    DATABASE_POOL_SIZE: 2,
    DATABASE_WAIT_S: 0,
  });
  const service = await acquireDatabase(env("one"), createLog("silent"), systemClock);
  try {
    await service.db.prisma.account.create({ data: { name: "kept" } });
    await runBackup("backup", { DATA_DIR: bench.at("one") }, "--to", bench.at("embedded.backup"));
    const under = runBackup("restore", { DATA_DIR: bench.at("one") }, bench.at("embedded.backup"), "--replace");
    await expect(under).rejects.toThrow(/in use by process/);
  } finally {
    await service.release();
  }
  await runBackup("restore", { DATA_DIR: bench.at("two") }, bench.at("embedded.backup"));
  const restored = await acquireDatabase(env("two"), createLog("silent"), systemClock);
  expect(await restored.db.prisma.account.count({ where: { name: "kept" } })).toBe(1);
  await restored.release();
});

/** Opens a file of the age format as `age -d` does, by its specification (https://age-encryption.org/v1), with the ciphers of Node alone. */
function openAge(file: Buffer, passphrase: string): Buffer {
  const end = file.indexOf("\n", file.indexOf("\n--- ") + 1) + 1;
  const [, salt = "", cost, wrapped = ""] = /^-> scrypt (\S+) (\d+)\n(\S+)$/m.exec(file.toString("latin1", 0, end)) ?? [];
  const open = (key: Uint8Array, nonce: Uint8Array, sealed: Buffer) => {
    const cipher = createDecipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
    cipher.setAuthTag(sealed.subarray(-16));
    return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  };
  const label = Buffer.concat([Buffer.from("age-encryption.org/v1/scrypt"), Buffer.from(salt, "base64")]);
  const wrapKey = scryptSync(passphrase, label, 32, { N: 2 ** Number(cost), r: 8, p: 1, maxmem: 2 ** 30 });
  const fileKey = open(wrapKey, Buffer.alloc(12), Buffer.from(wrapped, "base64"));
  const payloadKey = Buffer.from(hkdfSync("sha256", fileKey, file.subarray(end, end + 16), "payload", 32));
  const parts: Buffer[] = [];
  const chunkBytes = 65_536 + 16;
  for (let at = end + 16, count = 0; at < file.length; at += chunkBytes, count += 1) {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(count, 7);
    nonce[11] = at + chunkBytes >= file.length ? 1 : 0;
    parts.push(open(payloadKey, nonce, file.subarray(at, at + chunkBytes)));
  }
  return Buffer.concat(parts);
}

describe("a backup with a passphrase", () => {
  const BACKUP_PASSPHRASE = "correct horse battery staple";
  const file = () => bench.at("locked.backup");

  test("a machine that was lost with its secret comes back from the file and the passphrase alone", async () => {
    const lost = { DATABASE_URL: source.url, DATA_DIR: bench.at("unused"), BACKUP_PASSPHRASE };
    expect(await runBackup("backup", lost, "--to", file())).toContain("A restore needs BACKUP_PASSPHRASE");
    const text = await readFile(file());
    const opened = gunzipSync(openAge(text, BACKUP_PASSPHRASE)).toString();
    expect(opened).toContain(TEST_SECRET);
    const target = await bench.emptyDatabase();
    const found = { DATABASE_URL: target, DATA_DIR: bench.at("found"), NEXTAUTH_SECRET: "", BACKUP_PASSPHRASE };
    await mkdir(found.DATA_DIR);
    expect(await runBackup("restore", found, file())).toContain("found/nextauth-secret. Every node needs it.");
    // The run is recorded when it has ended.
    const { backup_run: _before, ...content } = await contentOf(target);
    const { backup_run: _after, ...now } = await contentOf(source.url);
    expect(content).toEqual(now);
    const secret = path.join(found.DATA_DIR, "nextauth-secret");
    expect(await readFile(secret, "utf8")).toBe(`${TEST_SECRET}\n`);
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    expect(await readdir(found.DATA_DIR)).toEqual(["nextauth-secret"]);
  });

  test("NEXTAUTH_SECRET stays what it is set to, and the operator is told when it is another one", async () => {
    const target = { DATABASE_URL: await bench.emptyDatabase(), DATA_DIR: bench.at("found"), BACKUP_PASSPHRASE };
    const other = { ...target, NEXTAUTH_SECRET: "another secret, of another installation" };
    expect(await runBackup("restore", other, file())).toContain("is another one than that of the backup");
    expect(await runBackup("restore", target, file(), "--replace")).toContain("NEXTAUTH_SECRET is that of the backup.");
  });

  test("without the passphrase, with another one, or changed anywhere, the file is refused and nothing is stored", async () => {
    const target = { DATABASE_URL: await bench.emptyDatabase(), DATA_DIR: bench.at("found") };
    await expect(runBackup("restore", target, file())).rejects.toThrow("is encrypted: set BACKUP_PASSPHRASE");
    const wrong = { ...target, BACKUP_PASSPHRASE: "incorrect horse battery" };
    await expect(runBackup("restore", wrong, file())).rejects.toThrow("encrypted with another passphrase");
    const bytes = await readFile(file());
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 100_000] = (flipped[bytes.length - 100_000] ?? 0) ^ 1;
    for (const changed of [
      flipped,
      bytes.subarray(0, bytes.length - 1),
      bytes.subarray(0, 70_000),
      Buffer.concat([bytes, bytes]),
    ]) {
      await writeFile(bench.at("changed.backup"), changed);
      const restoring = runBackup("restore", { ...target, BACKUP_PASSPHRASE }, bench.at("changed.backup"));
      await expect(restoring).rejects.toThrow("The backup is damaged");
    }
    expect(await query(target.DATABASE_URL, "SELECT to_regclass('plan') AS plan")).toEqual([{ plan: null }]);
  });

  test("a passphrase that is too short is refused by its name", async () => {
    const env = { DATABASE_URL: source.url, DATA_DIR: bench.at("unused"), BACKUP_PASSPHRASE: "short" };
    await expect(runBackup("backup", env, "--to", bench.at("short.backup"))).rejects.toThrow("BACKUP_PASSPHRASE");
  });
});
