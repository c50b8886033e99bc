import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createPortalTokens } from "#lib/access/portal-token";
import { manualClock } from "#lib/clock";
import { STREAM_TICKET_LIFETIME_S } from "#lib/contract/limits";
import type { Redis } from "#server/store/database/redis";
import { describeRedis } from "#server/testing/redis-nodes";
import { createTickets } from "./tickets";

const SECRET = "a secret of this installation";
const GRANT = { keyId: randomUUID() };
const ORIGIN = "https://app.example.com";
const PORTAL = { key: GRANT.keyId, session: randomUUID(), origin: "https://portal.example.com", until: Date.UTC(2026, 0, 7) };
const LIFETIME_MS = STREAM_TICKET_LIFETIME_S * 1000;

function ticketsSuite(open: () => Promise<Redis | undefined>): void {
  async function start(atMs = 0) {
    const clock = manualClock(atMs);
    const tickets = createTickets({ secret: SECRET, clock, redis: await open() });
    return { clock, tickets, mint: () => tickets.mint(GRANT, ORIGIN).ticket };
  }

  test("stand for their grant, once", async () => {
    const { tickets, mint } = await start();
    const ticket = mint();
    expect(await tickets.redeem(ticket, ORIGIN)).toEqual({ ...GRANT, originMatches: true });
    expect(await tickets.redeem(ticket, ORIGIN)).toBeUndefined();
    const portal = tickets.mint({ ...GRANT, portal: PORTAL }, null).ticket;
    expect(await tickets.redeem(portal, null)).toEqual({ ...GRANT, portal: PORTAL, originMatches: true });
  });

  test("are used up by many at once only once, and by who comes from elsewhere too", async () => {
    const { tickets, mint } = await start();
    const ticket = mint();
    const redeemed = await Promise.all(Array.from({ length: 20 }, () => tickets.redeem(ticket, ORIGIN)));
    expect(redeemed.filter((grant) => grant !== undefined)).toHaveLength(1);
    const other = mint();
    expect(await tickets.redeem(other, null)).toMatchObject({ originMatches: false });
    expect(await tickets.redeem(other, ORIGIN)).toBeUndefined();
  });

  test("are all different, and fit into a subprotocol with any origin", async () => {
    const { tickets } = await start();
    const origins = [null, ORIGIN, `https://${"x".repeat(4_000)}.example.com`, "ü ,;\n"];
    const made = origins.flatMap((origin) =>
      Array.from({ length: 100 }, () => tickets.mint({ ...GRANT, portal: PORTAL }, origin)),
    );
    expect(new Set(made.map(({ ticket }) => ticket)).size).toBe(400);
    for (const { ticket } of made) expect(ticket).toMatch(/^[A-Za-z0-9._-]{200,700}$/);
    expect(await tickets.redeem(made[250]?.ticket ?? "", origins[2] ?? null)).toMatchObject({ originMatches: true });
  });

  test("end on the instant they say", async () => {
    const { clock, tickets } = await start(1_000);
    const [early, late] = [tickets.mint(GRANT, null), tickets.mint(GRANT, null)];
    expect(early.expiresAtMs).toBe(1_000 + LIFETIME_MS);
    await clock.advance(LIFETIME_MS - 1);
    expect(await tickets.redeem(early.ticket, null)).toBeDefined();
    await clock.advance(1);
    expect(await tickets.redeem(late.ticket, null)).toBeUndefined();
  });

  test("do not live longer because a clock went back", async () => {
    const { clock, tickets, mint } = await start(10 * LIFETIME_MS);
    const [soon, late] = [mint(), mint()];
    clock.set(9 * LIFETIME_MS);
    expect(await tickets.redeem(soon, ORIGIN)).toBeDefined();
    clock.set(9 * LIFETIME_MS - 1);
    expect(await tickets.redeem(late, ORIGIN)).toBeUndefined();
  });

  test("are unknown in any other form, and when they were made for something else", async () => {
    const { tickets, mint } = await start();
    const ticket = mint();
    const { token } = createPortalTokens(SECRET, "sw").mint(PORTAL, 0);
    const [body = "", signature = ""] = ticket.split(".");
    const others = [
      "",
      " ",
      ".",
      `${ticket} `,
      `${ticket}.x`,
      `${ticket}=`,
      ticket.slice(1),
      ticket.toUpperCase(),
      body,
      signature,
    ];
    for (const text of [...others, `.${signature}`, token, token.slice("sw_page_".length), "x".repeat(100_000)])
      expect(await tickets.redeem(text, ORIGIN)).toBeUndefined();
    const foreign = createTickets({ secret: "another secret", clock: manualClock(0) });
    expect(await foreign.redeem(ticket, ORIGIN)).toBeUndefined();
    expect(await tickets.redeem(ticket, ORIGIN)).toBeDefined();
  });
}

describe("tickets at one node", () => {
  ticketsSuite(async () => undefined);

  test("are remembered as used up to a number", async () => {
    const tickets = createTickets({ secret: SECRET, clock: manualClock(0), usedMaxCount: 3 });
    const made = [1, 2, 3, 4].map(() => tickets.mint(GRANT, null).ticket);
    for (const ticket of made) expect(await tickets.redeem(ticket, null)).toBeDefined();
    const again = await Promise.all([...made].reverse().map((ticket) => tickets.redeem(ticket, null)));
    expect(again.map((grant) => grant !== undefined)).toEqual([false, false, false, true]);
  });
});

describeRedis("tickets of several nodes", (t) => {
  ticketsSuite(() => t.open());

  test("are taken at any node, once", async () => {
    const clock = manualClock(0);
    const redis = [await t.open("shared"), await t.open("shared")];
    const [a, b] = redis.map((one) => createTickets({ secret: SECRET, clock, redis: one }));
    for (let count = 0; count < 20; count += 1) {
      const { ticket } = a?.mint(GRANT, ORIGIN) ?? { ticket: "" };
      const redeemed = await Promise.all([b, a, b].map((node) => node?.redeem(ticket, ORIGIN)));
      expect(redeemed.filter((grant) => grant !== undefined)).toHaveLength(1);
    }
    await t.server.kill();
    const { ticket } = a?.mint(GRANT, ORIGIN) ?? { ticket: "" };
    // Nobody can tell the other node now: once at each.
    const redeemed = [await a?.redeem(ticket, ORIGIN), await a?.redeem(ticket, ORIGIN), await b?.redeem(ticket, ORIGIN)];
    expect(redeemed.map((grant) => grant !== undefined)).toEqual([true, false, true]);
    await t.server.start();
  });
});
