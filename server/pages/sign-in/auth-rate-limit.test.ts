import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { createAttempts } from "#lib/access/limits/attempts";
import { manualClock } from "#lib/clock";
import { PORTAL_ROUTES } from "#server/pages/api";
import { createAuthRateLimit } from "./auth-rate-limit";

const CLIENT_BURST = 60;
const NETWORK_BURST = 90;
const EVERYONE_BURST = 120;
const RESERVE_BURST = 60;
const RARE_BURST = 4;

function doors() {
  const clock = manualClock(Date.UTC(2026, 0, 5));
  const addressOf = (request: IncomingMessage) => String(request.headers["x-from"]);
  const check = createAuthRateLimit({ attempts: createAttempts(clock), addressOf, docsBase: "https://spotwire.test" });
  const from = (address: string, path = "/api/auth/callback/credentials", method = "POST") =>
    check({ method, headers: { "x-from": address, "x-request-id": "a-request" } } as unknown as IncomingMessage, path);
  return { clock, from };
}

/** Rating a password and the token of pages need no sign-in, cost neither, and have limits of their own. */
const OWN_LIMITS = ["/password/strength", "/page-tokens"];

describe("account requests without a sign-in", () => {
  test("too many account requests of one client are refused with an envelope, and those of others are not", async () => {
    const { clock, from } = doors();
    for (let n = 0; n < CLIENT_BURST; n += 1) expect(from("2001:db8::1")).toBeUndefined();
    const refused = from("2001:db8::2:2");
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1", "x-request-id": "a-request" } });
    expect(JSON.parse(String(refused?.body))).toMatchObject({
      message: "rate_limited",
      data: { retry_after: 1, request_id: "a-request", docs_url: "https://spotwire.test/docs/errors/rate-limited" },
    });
    expect(from("203.0.113.7")).toBeUndefined();
    await clock.advance(1_000);
    expect(from("2001:db8::1")).toBeUndefined();
  });

  test("account requests are limited per network: all addresses of a /48 together cannot lock out anyone else", () => {
    const { from } = doors();
    for (let n = 0; n < NETWORK_BURST; n += 1) expect(from(`2001:db8:0:${n}::1`)).toBeUndefined();
    expect(from("2001:db8:0:999::1")?.status).toBe(429);
    expect(from("2001:db8:1::1")).toBeUndefined();
  });

  test("account requests are limited in total, from however many addresses they come", () => {
    const { from } = doors();
    for (let n = 0; n < EVERYONE_BURST + RESERVE_BURST; n += 1) expect(from(`10.0.${n}.1`)).toBeUndefined();
    expect(from("10.1.0.1")?.status).toBe(429);
  });

  test("eight networks that ask thirty times a second close sign-up for nobody else, however long they do", async () => {
    const { clock, from } = doors();
    for (let second = 0; second < 180; second += 1) {
      for (let n = 0; n < 30; n += 1) from(`10.0.${n % 8}.${second}`, "/api/portal/sign-up");
      expect(from(`10.1.${second}.1`, "/api/portal/sign-up")).toBeUndefined();
      await clock.advance(1_000);
    }
  });

  test("past the common rate a network gets a few requests of the reserve", () => {
    const { from } = doors();
    for (let n = 0; n < EVERYONE_BURST; n += 1) from(`10.0.${n}.1`);
    for (let n = 0; n < RARE_BURST; n += 1) expect(from("10.1.0.1")).toBeUndefined();
    expect(from("10.1.0.2")?.status).toBe(429);
    expect(from("10.1.1.1")).toBeUndefined();
  });

  test("reading the token, the session or the providers uses up nothing of the common rate", () => {
    const { from } = doors();
    for (let n = 0; n < EVERYONE_BURST + RESERVE_BURST; n += 1)
      for (const read of ["csrf", "session", "providers"])
        expect(from(`10.0.${n}.1`, `/api/auth/${read}`, "GET")).toBeUndefined();
    expect(from("10.1.0.1")).toBeUndefined();
    for (let n = 0; n < EVERYONE_BURST + RESERVE_BURST; n += 1) from(`10.2.${n}.1`);
    expect(from("10.1.1.1")?.status).toBe(429);
    expect(from("10.1.1.1", "/api/auth/csrf", "GET")).toBeUndefined();
  });

  test("only account requests that cost a hash or a mail are limited; pages and signed-in calls pass", () => {
    const { from } = doors();
    for (let n = 0; n < EVERYONE_BURST + RESERVE_BURST; n += 1) from(`10.0.${n}.1`);
    expect(from("10.1.0.1", "/api/auth/signin/oidc")?.status).toBe(429);
    for (const { name, user } of PORTAL_ROUTES) {
      const [method, path] = name.split(" ");
      const limited = user === "none" && !OWN_LIMITS.includes(path ?? "");
      expect(from("10.1.0.1", `/api/portal${path}`, method)?.status, name).toBe(limited ? 429 : undefined);
    }
    for (const path of ["/", "/signin", "/api/authors"]) expect(from("10.1.0.1", path)).toBeUndefined();
  });
});
