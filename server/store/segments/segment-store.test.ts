import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock as clock } from "#lib/clock";
import { S3_CREDENTIALS as credentials, startS3Server } from "#lib/testing/s3-server";
import { testDatabase } from "#server/testing/database";
import { segmentStoreSuite } from "#server/testing/segment-store-suite";
import { createBucketStore } from "./bucket-store";
import { createDirectoryStore } from "./directory-store";
import { objectName } from "./object-name";
import { inPostgres } from "./segment-store";

segmentStoreSuite("PostgreSQL", true, async () => {
  const { pool, close } = await testDatabase();
  const alter = async (id: string, bytes: Uint8Array) =>
    void (await pool.query("UPDATE history_content SET bytes = $2 WHERE id = $1", [id, Buffer.from(bytes)]));
  return { store: inPostgres, other: inPostgres, pool, alter, close };
});

segmentStoreSuite("a directory", false, async () => {
  const { pool, close } = await testDatabase();
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-history-"));
  return {
    store: createDirectoryStore({ folder, clock }),
    other: createDirectoryStore({ folder, clock }),
    pool,
    alter: (id, bytes) => writeFile(path.join(folder, objectName(id)), bytes),
    async close() {
      await close();
      await rm(folder, { recursive: true });
    },
  };
});

segmentStoreSuite("a bucket", false, async () => {
  const { pool, close } = await testDatabase();
  const server = await startS3Server();
  return {
    store: createBucketStore({ place: server.place, credentials, clock }),
    other: createBucketStore({ place: server.place, credentials, clock }),
    pool,
    alter: (id, bytes) => server.overwrite(objectName(id), bytes),
    async close() {
      await close();
      await server.close();
    },
  };
});
