import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PORTAL_TOKEN_LIFETIME_S } from "#lib/contract/portal";
import { createPortalTokens } from "./portal-token";

const NOW_MS = Date.UTC(2026, 0, 7, 12);
const claims = { key: randomUUID(), session: randomUUID(), origin: "https://portal.example.com" };
const tokens = createPortalTokens("a secret of this installation", "sw");

describe("a portal token", () => {
  test("stands for its key, session and origin until its time is over", () => {
    const { token, expiresAtMs } = tokens.mint(claims, NOW_MS);
    expect(expiresAtMs).toBe(NOW_MS + PORTAL_TOKEN_LIFETIME_S * 1000);
    expect(tokens.read(token, NOW_MS)).toEqual({ ...claims, until: expiresAtMs });
    expect(tokens.read(token, expiresAtMs - 1)).toBeDefined();
    expect(tokens.read(token, expiresAtMs)).toBeUndefined();
  });

  test("is void when a single character was changed, or another installation made it", () => {
    const { token } = tokens.mint(claims, NOW_MS);
    expect(createPortalTokens("another secret", "sw").read(token, NOW_MS)).toBeUndefined();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: token.length - 2 }), fc.constantFrom("A", "b", "7", "_", ".", " "), (at, other) => {
        fc.pre(token[at] !== other);
        expect(tokens.read(token.slice(0, at) + other + token.slice(at + 1), NOW_MS)).toBeUndefined();
      }),
    );
  });

  test("is not read from anything else", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokens.read(text, NOW_MS)).toBeUndefined();
        expect(tokens.read(`sw_page_${text}`, NOW_MS)).toBeUndefined();
      }),
    );
  });
});
