import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { STREAM_TICKET_LIFETIME_S } from "#lib/contract/limits";
import { createTickets } from "./tickets";

const GRANT = { keyId: "key", origin: "https://app.example.com" };
const LIFETIME_MS = STREAM_TICKET_LIFETIME_S * 1000;

describe("tickets", () => {
  test("stand for their grant, once", () => {
    const tickets = createTickets(manualClock(0));
    const { ticket } = tickets.mint(GRANT);
    expect(tickets.redeem(ticket)).toEqual(GRANT);
    expect(tickets.redeem(ticket)).toBeUndefined();
  });

  test("are each another one, and fit into a subprotocol and into JSON", () => {
    const tickets = createTickets(manualClock(0));
    const made = Array.from({ length: 1_000 }, () => tickets.mint(GRANT).ticket);
    expect(new Set(made).size).toBe(1_000);
    for (const ticket of made) expect(ticket).toMatch(/^[A-Za-z0-9_-]{32}$/);
  });

  test("end on the instant they say", async () => {
    const clock = manualClock(1_000);
    const tickets = createTickets(clock);
    const [early, late] = [tickets.mint(GRANT), tickets.mint(GRANT)];
    expect(early.expiresAtMs).toBe(1_000 + LIFETIME_MS);
    await clock.advance(LIFETIME_MS - 1);
    expect(tickets.redeem(early.ticket)).toEqual(GRANT);
    await clock.advance(1);
    expect(tickets.redeem(late.ticket)).toBeUndefined();
  });

  test("are unknown in any other form", () => {
    const tickets = createTickets(manualClock(0));
    const { ticket } = tickets.mint(GRANT);
    for (const text of ["", " ", `${ticket} `, ticket.slice(1), ticket.toUpperCase(), "x".repeat(100_000)])
      expect(tickets.redeem(text)).toBeUndefined();
    expect(tickets.redeem(ticket)).toEqual(GRANT);
  });

  test("are kept up to a number; past it the oldest is void", () => {
    const tickets = createTickets(manualClock(0), 3);
    const made = [1, 2, 3, 4].map(() => tickets.mint(GRANT).ticket);
    expect(made.map((ticket) => tickets.redeem(ticket) !== undefined)).toEqual([false, true, true, true]);
  });
});
