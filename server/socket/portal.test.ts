import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TRANSPORTS } from "#lib/testing/stream-client";
import { openPortalSession } from "#server/testing/portal-session";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

const PORTAL = "https://portal.example.com";

let t: StreamService;
beforeAll(async () => {
  t = await startStreamService();
});
afterAll(() => t.close());

describe.each(TRANSPORTS)("a connection over %s that a portal token opened", (transport) => {
  async function signedIn() {
    const { record } = await t.issueKey();
    const { accountId } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
    const session = await openPortalSession(t.db, accountId, t.clock.now());
    const { token } = t.access.mintPortalToken({ key: record.id, session, origin: PORTAL });
    return { session, token };
  }

  test("a connection opened with a portal token closes when its session ends, and those of other sessions stay open", async () => {
    const one = await signedIn();
    const two = await signedIn();
    const client = await t.connect({ transport, key: one.token });
    const other = await t.connect({ transport, key: two.token });
    await t.db.prisma.portalSession.update({ where: { id: one.session }, data: { revokedAt: new Date(t.clock.now()) } });
    await t.tell({ kind: "sessions", sessionId: one.session });
    expect(await client.next("error")).toMatchObject({ message: "unauthorized", data: { close_code: 4401 } });
    expect(await other.ask("ping")).toMatchObject({ code: 0 });
    await other.close();
  });
});
