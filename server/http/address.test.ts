import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { createAddressReader, createProxyCheck } from "./address";

function request(remoteAddress: string, forwarded?: string): IncomingMessage {
  return {
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  } as IncomingMessage;
}

describe("client address", () => {
  test("the client address is the peer's when no proxy is trusted, whatever X-Forwarded-For claims", () => {
    const read = createAddressReader([]);
    expect(read(request("203.0.113.7", "1.2.3.4"))).toBe("203.0.113.7");
    expect(read(request("::ffff:203.0.113.7"))).toBe("203.0.113.7");
  });

  test("the client address is the last hop that is not a trusted proxy", () => {
    const read = createAddressReader(["10.0.0.0/8", "2001:db8::1"]);
    expect(read(request("10.0.0.1", "6.6.6.6, 198.51.100.4, 10.2.2.2"))).toBe("198.51.100.4");
    expect(read(request("2001:db8::1", "198.51.100.4"))).toBe("198.51.100.4");
    expect(read(request("198.51.100.9", "1.2.3.4"))).toBe("198.51.100.9");
    expect(read(request("10.0.0.1", "rubbish"))).toBe("10.0.0.1");
    expect(read(request("10.0.0.1"))).toBe("10.0.0.1");
    expect(read(request("10.0.0.1", ""))).toBe("10.0.0.1");
    expect(read(request("10.0.0.1", "::ffff:198.51.100.4, ::FFFF:10.2.2.2"))).toBe("198.51.100.4");
    expect(read(request("10.0.0.1", "2001:DB8:0::7"))).toBe("2001:db8::7");
  });

  test("only the nearest hops of a long X-Forwarded-For chain are read", () => {
    const read = createAddressReader(["10.0.0.0/8"]);
    expect(read(request("10.0.0.1", `6.6.6.6,${Array(50).fill("10.1.1.1").join(",")}`))).toBe("10.1.1.1");
  });

  test("an entry of TRUSTED_PROXIES that is neither an address nor a range is rejected by name", () => {
    expect(() => createAddressReader(["10.0.0.0/99"])).toThrow('TRUSTED_PROXIES: "10.0.0.0/99"');
  });
});

test("a peer is a trusted proxy when it is one of them, however its address is written", () => {
  const isProxy = createProxyCheck(["10.0.0.0/8", "2001:db8::1"]);
  for (const peer of ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "2001:DB8:0::1"]) expect(isProxy(peer)).toBe(true);
  for (const peer of ["11.0.0.1", "2001:db8::2", ""]) expect(isProxy(peer)).toBe(false);
});
