import { describe, expect, test } from "vitest";
import {
  SOCKET_IO_OPENING_CLIENT_MAX_COUNT,
  SOCKET_IO_OPENING_MAX_COUNT,
  SOCKET_IO_OPENING_NETWORK_MAX_COUNT,
} from "#lib/contract/limits";
import { createOpenings } from "./openings";

function fill(count: number, addressOf: (index: number) => string) {
  const openings = createOpenings();
  const ends = Array.from({ length: count }, (_, index) => {
    expect(openings.hasRoom(addressOf(index))).toBe(true);
    return openings.enter(addressOf(index));
  });
  return { openings, ends };
}

describe("connections that are not admitted yet", () => {
  test.each([
    ["IPv4 address", () => "192.0.2.1", "192.0.2.2"],
    ["IPv6 /64", (index: number) => `2001:db8::${index.toString(16)}`, "2001:db8:0:1::1"],
  ])("one client may have as many as its limit, by %s", (_, addressOf, other) => {
    const { openings, ends } = fill(SOCKET_IO_OPENING_CLIENT_MAX_COUNT, addressOf);
    expect(openings.hasRoom(addressOf(0))).toBe(false);
    expect(openings.hasRoom(other)).toBe(true);
    ends[0]?.();
    ends[0]?.();
    expect(openings.hasRoom(addressOf(0))).toBe(true);
    openings.enter(addressOf(0));
    expect(openings.hasRoom(addressOf(0))).toBe(false);
  });

  test("one network may have as many as its limit", () => {
    const { openings } = fill(SOCKET_IO_OPENING_NETWORK_MAX_COUNT, (index) => `198.51.100.${index % 200}`);
    expect(openings.hasRoom("198.51.100.201")).toBe(false);
    expect(openings.hasRoom("198.51.101.1")).toBe(true);
  });

  test("all clients together may have as many as the limit", () => {
    const { openings, ends } = fill(SOCKET_IO_OPENING_MAX_COUNT, (index) => `10.${index >> 8}.${index & 255}.1`);
    expect(openings.hasRoom("203.0.113.1")).toBe(false);
    for (const end of ends) end();
    expect(openings.hasRoom("203.0.113.1")).toBe(true);
  });
});
