import { describe, expect, test } from "vitest";
import { createHandshakeLimits } from "./handshake-limits";

const LIMITS = { client: 5, network: 20, all: 300 };

function fill(count: number, addressOf: (index: number) => string) {
  const openings = createHandshakeLimits(LIMITS);
  const ends = Array.from({ length: count }, (_, index) => {
    expect(openings.fullFor(addressOf(index))).toBeUndefined();
    return openings.enter(addressOf(index));
  });
  return { openings, ends };
}

describe("connections that are not admitted yet", () => {
  test.each([
    ["IPv4 address", () => "192.0.2.1", "192.0.2.2"],
    ["IPv6 /64", (index: number) => `2001:db8::${index.toString(16)}`, "2001:db8:0:1::1"],
  ])("one client may have as many as its limit, by %s", (_, addressOf, other) => {
    const { openings, ends } = fill(LIMITS.client, addressOf);
    expect(openings.fullFor(addressOf(0))).toBe("client");
    expect(openings.fullFor(other)).toBeUndefined();
    ends[0]?.();
    ends[0]?.();
    expect(openings.fullFor(addressOf(0))).toBeUndefined();
    openings.enter(addressOf(0));
    expect(openings.fullFor(addressOf(0))).toBe("client");
  });

  test("one network may have as many as its limit", () => {
    const { openings } = fill(LIMITS.network, (index) => `198.51.100.${index % 200}`);
    expect(openings.fullFor("198.51.100.201")).toBe("network");
    expect(openings.fullFor("198.51.101.1")).toBeUndefined();
  });

  test("all clients together may have as many as the limit", () => {
    const { openings, ends } = fill(LIMITS.all, (index) => `10.${index >> 8}.${index & 255}.1`);
    expect(openings.fullFor("203.0.113.1")).toBe("all");
    for (const end of ends) end();
    expect(openings.fullFor("203.0.113.1")).toBeUndefined();
  });
});
