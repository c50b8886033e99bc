import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Role } from "#lib/contract/roles";
import { TRANSPORTS } from "#lib/testing/stream-client";
import { signedInAs } from "#server/testing/portal-browser";
import { createMember, openPortalSession } from "#server/testing/portal-session";
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

  test.each(["removed", "demoted", "gone"] as const)(
    "closes when its member is %s, though the keys stay, and those of other members stay open",
    async (way) => {
      const { record } = await t.issueKey();
      const { accountId } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
      const join = async (role: Role) => {
        const { id } = await createMember(t.db, accountId, { email: `${randomUUID()}@example.com`, role });
        const browser = await signedInAs(t, id);
        const { token } = (await browser.send("POST /tokens", { body: { key_id: record.id } })).body.data;
        return { id, browser, client: await t.connect({ transport, key: token }) };
      };
      const [owner, neighbour, member] = [await join("owner"), await join("developer"), await join("developer")];
      const params = { id: member.id };
      const { status } = await {
        removed: () => owner.browser.send("DELETE /organisation/members/[id]", { params, body: { revoke_keys: false } }),
        demoted: () => owner.browser.send("PATCH /organisation/members/[id]", { params, body: { role: "reader" } }),
        gone: () => member.browser.send("POST /organisation/leave"),
      }[way]();
      expect(status).toBe(200);
      expect(await member.client.next("error")).toMatchObject({ message: "unauthorized", data: { close_code: 4401 } });
      for (const { client } of [owner, neighbour]) {
        expect(await client.ask("ping")).toMatchObject({ code: 0 });
        await client.close();
      }
    },
  );
});
