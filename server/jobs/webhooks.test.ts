import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSealer } from "#lib/access/sealer";
import { type ManualClock, manualClock } from "#lib/clock";
import type { Repeating } from "#lib/repeat";
import { collectingLog } from "#lib/testing/collecting-log";
import { MINUTE_MS } from "#lib/units";
import { createSend } from "#server/outgoing/webhooks";
import { putAccount } from "#server/store/access/accounts";
import { addNote } from "#server/store/market/incident-notes";
import { createUptime } from "#server/store/market/uptime";
import { addWebhook, WEBHOOK_SECRETS } from "#server/store/webhooks/webhooks";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { openPortalSession } from "#server/testing/portal-session";
import { startWebhooks } from "./webhooks";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const sealer = createSealer("a secret that is known to tests alone", WEBHOOK_SECRETS);

let db: TestDatabase;
let clock: ManualClock;
let logged: Record<string, unknown>[];
const running: Repeating[] = [];
beforeEach(async () => {
  db = await testDatabase();
  clock = manualClock(NOW_MS);
  logged = [];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
  await db.close();
});

function start(allowedHosts: readonly string[], pool = db.pool): void {
  const uptime = createUptime({ db, clock });
  running.push(
    startWebhooks({
      db: { pool },
      clock,
      log: collectingLog(logged, "warn"),
      sealer,
      send: createSend({ userAgent: "Acme-Webhooks/1", allowedHosts, ports: [] }),
      uptime,
    }),
  );
}

test("a note of an operator reaches the receiver of a webhook once, though two nodes run", async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks).toString());
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const { id: accountId } = await putAccount({ db, clock }, "ann");
    await openPortalSession(db, accountId, NOW_MS);
    const by = { actor: { name: "ann" }, accountId, address: null };
    await addWebhook({ db, clock, sealer, allowedHosts: [host], ports: [] }, { url: `http://${host}/` }, by);
    const starts_at = new Date(NOW_MS).toISOString();
    const form = { title: "Slow quotes", text: "", impact: "degraded", starts_at, ends_at: null } as const;
    await addNote({ db, clock, record: async () => undefined }, form);
    start([host]);
    start([host]);
    await vi.waitUntil(() => db.prisma.webhookDelivery.count({ where: { state: "delivered" } }));
    await clock.advance(MINUTE_MS);
    expect(bodies.map((body) => JSON.parse(body))).toMatchObject([{ type: "incident.opened", data: { title: "Slow quotes" } }]);
    expect(logged).toEqual([]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("while the database is away the failure is logged once, and tried again", async () => {
  const query = vi.fn(() => Promise.reject(new Error("away")));
  start([], { query } as unknown as typeof db.pool);
  await vi.waitUntil(() => logged.length === 1);
  await clock.advance(MINUTE_MS);
  await vi.waitUntil(() => query.mock.calls.length > 2);
  expect(logged).toMatchObject([{ msg: "cannot read or write webhooks; retrying" }]);
});
