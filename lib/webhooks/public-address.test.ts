import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublicAddress } from "./public-address";

const REFUSED = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "169.254.169.254",
  "169.254.0.1",
  "100.64.0.1",
  "100.100.100.200",
  "100.127.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "198.51.100.1",
  "203.0.113.1",
  "198.18.0.1",
  "198.19.255.255",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "192.88.99.1",
  "168.63.129.16",
  "::",
  "::1",
  "::127.0.0.1",
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "::ffff:8.8.8.8",
  "::ffff:a9fe:a9fe",
  "64:ff9b::8.8.8.8",
  "64:ff9b::7f00:1",
  "64:ff9b:1::1",
  "100::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "2001:db8::1",
  "2001::1",
  "2002:7f00:1::",
  "2002:808:808::1",
  "3fff:ffff::1%1",
  "4000::1",
  "",
  "localhost",
  "8.8.8",
  "8.8.8.8.8",
  "0x8.8.8.8",
  "010.8.8.8",
  "134744072",
  " 8.8.8.8",
  "8.8.8.8:443",
  "[::1]",
];

test.each(REFUSED)("%j is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "93.184.215.14",
  "172.15.0.1",
  "172.32.0.1",
  "100.63.0.1",
  "2606:4700:4700::1111",
  "2a00:1450::1",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

describe("an address inside a network that is not public is refused, in each of its forms", () => {
  const byte = fc.nat({ max: 255 });
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
  const internal = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
    fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
    fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
    fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
    fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
  );

  test("as IPv4, mapped, translated, compatible, 6to4 and NAT64", () => {
    fc.assert(
      fc.property(internal, ([a, b, c, d]) => {
        const [dotted, groups] = [`${a}.${b}.${c}.${d}`, `${hex(a, b)}:${hex(c, d)}`];
        const forms = [dotted, `::ffff:${dotted}`, `::ffff:${groups}`, `::ffff:0:${dotted}`, `::${dotted}`];
        for (const form of [...forms, `2002:${groups}::1`, `64:ff9b::${dotted}`, `64:ff9b::${groups}`])
          expect(isPublicAddress(form), form).toBe(false);
      }),
    );
  });

  test("no IPv6 address outside 2000::/3 is public", () => {
    const group = fc.nat({ max: 0xffff });
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const [first = 0] = groups;
        fc.pre(first >> 13 !== 1);
        expect(isPublicAddress(groups.map((each) => each.toString(16)).join(":"))).toBe(false);
      }),
    );
  });

  test("what a URL makes of an odd spelling of an IPv4 address is checked, not the spelling", () => {
    for (const host of ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "①②⑦.0.0.1"])
      expect(isPublicAddress(new URL(`https://${host}/`).hostname)).toBe(false);
  });
});
