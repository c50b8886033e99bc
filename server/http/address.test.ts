import type { IncomingMessage } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { addressFilter } from "#lib/access/address";
import { createAddressReader, createProxyCheck, UNKNOWN_ADDRESS } from "./address";

const PROXY = "10.0.0.1";
const CLIENT = "198.51.100.4";

type Header = "x-forwarded-for" | "forwarded";

function reader(trustedProxies: readonly string[], header: Header = "x-forwarded-for") {
  const warn = vi.fn();
  const read = createAddressReader({ env: { TRUSTED_PROXIES: [...trustedProxies], FORWARDED_HEADER: header }, log: { warn } });
  const from = (remoteAddress: string, headers: Partial<Record<Header, string>> = {}) =>
    read({ socket: { remoteAddress }, headers } as IncomingMessage);
  return { warn, from };
}

describe("client address", () => {
  test("the client address is the peer's when no proxy is trusted, whatever the headers claim", () => {
    for (const header of ["x-forwarded-for", "forwarded"] as const) {
      const { from } = reader([], header);
      expect(from("203.0.113.7", { "x-forwarded-for": "1.2.3.4", forwarded: "for=1.2.3.4" })).toBe("203.0.113.7");
      expect(from("::ffff:203.0.113.7")).toBe("203.0.113.7");
      expect(from("fe80::1%eth0")).toBe("fe80::1");
    }
  });

  test("the client address is the last hop that is not a trusted proxy", () => {
    const { from } = reader(["10.0.0.0/8", "2001:db8::1"]);
    const of = (peer: string, header?: string) => from(peer, header === undefined ? {} : { "x-forwarded-for": header });
    expect(of(PROXY, "6.6.6.6, 198.51.100.4, 10.2.2.2")).toBe(CLIENT);
    expect(of("2001:db8::1", CLIENT)).toBe(CLIENT);
    expect(of("198.51.100.9", "1.2.3.4")).toBe("198.51.100.9");
    expect(of(PROXY, "rubbish, 198.51.100.4")).toBe(CLIENT);
    expect(of(PROXY)).toBe(PROXY);
    expect(of(PROXY, "")).toBe(PROXY);
    expect(of(PROXY, "::ffff:198.51.100.4, ::FFFF:10.2.2.2")).toBe(CLIENT);
    expect(of(PROXY, "2001:DB8:0::7")).toBe("2001:db8::7");
  });

  test.each([
    ["198.51.100.4:51234", CLIENT],
    ["6.6.6.6:1,198.51.100.4:51234 , 10.2.2.2:80", CLIENT],
    ['"198.51.100.4:51234"', CLIENT],
    ["[2001:db8::7]", "2001:db8::7"],
    ["[2001:DB8::7]:443", "2001:db8::7"],
    ['"[2001:db8::7]:443"', "2001:db8::7"],
    ['"2001:db8::7"', "2001:db8::7"],
    ["[::ffff:198.51.100.4]:443", CLIENT],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%25eth0]:443", "fe80::1"],
  ])("an entry of X-Forwarded-For may have a port, brackets, quotes or a zone: %s", (header, address) => {
    expect(reader(["10.0.0.0/8"]).from(PROXY, { "x-forwarded-for": header })).toBe(address);
  });

  test.each([
    ["for=198.51.100.4", CLIENT],
    ['For="198.51.100.4:51234";proto=https;by=10.0.0.1', CLIENT],
    ['for="[2001:db8::7]:443"', "2001:db8::7"],
    ['for="[2001:db8::7]:_port"', "2001:db8::7"],
    ['proto=https;host="a.example";for="[fe80::1%eth0]"', "fe80::1"],
    ["for=6.6.6.6, for=198.51.100.4 ; proto=http, for=10.2.2.2", CLIENT],
    // What a client wrote in front of it neither hides nor replaces the element of the proxy.
    ['for=6.6.6.6;host=", for=198.51.100.4', CLIENT],
    ['for="6.6.6.6, for=198.51.100.4', CLIENT],
    ["=;,, for=198.51.100.4", CLIENT],
  ])("where the proxies send Forwarded, its last element that names no trusted proxy counts: %s", (forwarded, address) => {
    const { from, warn } = reader(["10.0.0.0/8"], "forwarded");
    expect(from(PROXY, { forwarded })).toBe(address);
    expect(from(PROXY, { forwarded, "x-forwarded-for": "6.6.6.6" })).toBe(address);
    expect(warn).not.toHaveBeenCalled();
  });

  test("a header in which the proxies do not name the client is never believed", () => {
    const { from, warn } = reader(["10.0.0.0/8"]);
    expect(from(PROXY, { "x-forwarded-for": CLIENT, forwarded: "for=6.6.6.6" })).toBe(CLIENT);
    expect(warn).not.toHaveBeenCalled();
    expect(from(PROXY, { forwarded: "for=6.6.6.6" })).toBe(UNKNOWN_ADDRESS);
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.anything(), expect.stringContaining("FORWARDED_HEADER"));
    expect(reader(["10.0.0.0/8"], "forwarded").from(PROXY, { "x-forwarded-for": "6.6.6.6" })).toBe(UNKNOWN_ADDRESS);
  });

  const unreadable: readonly (readonly [Header, string])[] = [
    ...[
      "rubbish",
      "unknown",
      "_hidden",
      "1",
      "127.1",
      "010.0.0.1",
      "256.1.1.1",
      "[198.51.100.4",
      "[]:80",
      "1.2.3.4:x",
      "a:b:c",
    ].map((entry) => ["x-forwarded-for", entry] as const),
    ...["6.6.6.6,", "6.6.6.6, unix:", "6.6.6.6, rubbish, 10.2.2.2"].map((chain) => ["x-forwarded-for", chain] as const),
    ...[
      "for=unknown",
      "for=_hidden",
      "proto=https",
      "for=",
      "198.51.100.4",
      "for=[2001:db8::7]",
      "for=6.6.6.6,",
      "for=6.6.6.6, x",
    ].map((chain) => ["forwarded", chain] as const),
    // A proxy that repeats the Host of a client without quotes.
    ["forwarded", "for=198.51.100.4;host=a;for=6.6.6.6"],
    ["forwarded", 'for=198.51.100.4;host="a, for=6.6.6.6"'],
    ["forwarded", 'for=198.51.100.4;host="a, for=6.6.6.6;x=\\"";proto=https'],
  ];
  test.each(unreadable)(
    "an entry of %s that cannot be read is neither the proxy nor what stands before it: %s",
    (header, text) => {
      const { from, warn } = reader(["10.0.0.0/8"], header);
      expect(from(PROXY, { [header]: text })).toBe(UNKNOWN_ADDRESS);
      expect(from(PROXY, { [header]: text })).toBe(UNKNOWN_ADDRESS);
      expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ proxy: PROXY }), expect.any(String));
    },
  );

  test("no list of allowed addresses has the address of a client that cannot be read", () => {
    for (const network of ["0.0.0.0/0", "::/0", "10.0.0.0/8"]) expect(addressFilter([network])(UNKNOWN_ADDRESS)).toBe(false);
  });

  test("the log has no more than the end of a header that cannot be read", () => {
    const { from, warn } = reader(["10.0.0.0/8"]);
    from(PROXY, { "x-forwarded-for": "x".repeat(60_000) });
    expect(JSON.stringify(warn.mock.calls).length).toBeLessThan(500);
  });

  test("only the nearest hops of a long chain are read", () => {
    const { from } = reader(["10.0.0.0/8"]);
    expect(from(PROXY, { "x-forwarded-for": `6.6.6.6,${Array(50).fill("10.1.1.1").join(",")}` })).toBe("10.1.1.1");
  });

  test("an entry of TRUSTED_PROXIES that is neither an address nor a range is rejected by name", () => {
    expect(() => reader(["10.0.0.0/99"])).toThrow('TRUSTED_PROXIES: "10.0.0.0/99"');
  });
});

test("a peer is a trusted proxy when it is one of them, however its address is written", () => {
  const isProxy = createProxyCheck(["10.0.0.0/8", "2001:db8::1"]);
  for (const peer of ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "2001:DB8:0::1"]) expect(isProxy(peer)).toBe(true);
  for (const peer of ["11.0.0.1", "2001:db8::2", ""]) expect(isProxy(peer)).toBe(false);
});
