import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { certificateMaker } from "#lib/testing/certificates";
import { collectingLog } from "#lib/testing/collecting-log";
import { findRedis, startRedis } from "#lib/testing/redis-server";
import { ready } from "#server/testing/redis-nodes";
import { openRedis } from "./redis";

const program = findRedis();
const maker = await certificateMaker();
afterAll(() => maker?.close());

function open(url: string, caFile: string | undefined, lines: Record<string, unknown>[] = []) {
  const redis = openRedis({ url, caFile, prefix: "test", log: collectingLog(lines, "info") });
  onTestFinished(() => redis.close());
  return redis;
}

/** A server with this certificate, until the test is over. */
async function serverWith(host: string) {
  const certificate = await maker?.issue(host);
  if (program === undefined || certificate === undefined) throw new Error("these tests are skipped then");
  const server = await startRedis(program, certificate);
  onTestFinished(() => server.stop());
  return { server, certificate };
}

const lacking = program === undefined ? "no Redis or Valkey" : maker === undefined ? "no openssl" : undefined;

describe.skipIf(lacking !== undefined)(`Redis over TLS${lacking === undefined ? "" : ` (skipped: ${lacking} here)`}`, () => {
  test("with the CA of the server, every connection is encrypted and works", async () => {
    const { server, certificate } = await serverWith("localhost");
    const redis = open(server.url, certificate.caFile);
    await ready(redis);
    await redis.client.set("a", "1");
    const another = redis.another();
    onTestFinished(() => another.destroy());
    await vi.waitUntil(() => another.isReady);
    expect(await another.get("a")).toBe("1");
    const plain = open(server.url.replace("rediss:", "redis:"), undefined);
    await vi.waitFor(() => expect(plain.connected()).toBe(false));
    await expect(plain.client.get("a")).rejects.toThrow();
  });

  test("another CA, no CA, and a certificate of another host are refused, and the log says what to check", async () => {
    const { server, certificate } = await serverWith("localhost");
    const elsewhere = await serverWith("redis.example.com");
    const cases = [
      [server.url, elsewhere.certificate.caFile],
      [server.url, undefined],
      [elsewhere.server.url, elsewhere.certificate.caFile],
    ] as const;
    for (const [url, caFile] of cases) {
      const lines: Record<string, unknown>[] = [];
      const redis = open(url, caFile, lines);
      await vi.waitFor(() => expect(lines).toMatchObject([{ level: 40, msg: expect.stringContaining("check REDIS_CA_FILE") }]));
      expect(redis.connected()).toBe(false);
      await expect(redis.client.get("a")).rejects.toThrow();
    }
    await ready(open(server.url, certificate.caFile));
  });

  test("a CA file that cannot be read is named", () => {
    expect(() =>
      openRedis({ url: "rediss://localhost:1", caFile: "/nowhere/ca.pem", prefix: "x", log: collectingLog([], "warn") }),
    ).toThrow("/nowhere/ca.pem");
  });
});
