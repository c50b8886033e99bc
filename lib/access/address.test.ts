import { describe, expect, test } from "vitest";
import { addressFilter, clientBlock, coarseAddress, parseAllowedAddress } from "./address";

describe("client addresses", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::99", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80::/64"],
    ["unknown", "unknown"],
    ["not:an:address", "not:an:address"],
  ])("counts %s as the client %s", (address, block) => expect(clientBlock(address)).toBe(block));

  test.each([
    ["203.0.113.7", "203.0.113.0/24"],
    ["::ffff:203.0.113.7", "203.0.113.0/24"],
    ["2001:db8:1:2::99", "2001:db8:1::/48"],
    ["unknown", null],
  ])("keeps of %s no more than %s", (address, coarse) => expect(coarseAddress(address)).toBe(coarse));
});

describe("allowed addresses", () => {
  test.each([
    [" 203.0.113.7 ", "203.0.113.7"],
    ["203.0.113.7/24", "203.0.113.0/24"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["203.0.113.7/32", "203.0.113.7/32"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:DB8:0:0::1", "2001:db8::1"],
    ["2001:db8::1/32", "2001:db8::/32"],
    ["::/0", "::/0"],
  ])("takes %j as %s", (text, stored) => {
    expect(parseAllowedAddress(text)).toBe(stored);
    expect(parseAllowedAddress(stored)).toBe(stored);
  });

  test.each([
    "",
    "*",
    "localhost",
    "203.0.113",
    "010.0.0.1",
    "203.0.113.7/33",
    "203.0.113.7/",
    "203.0.113.7/-1",
    "203.0.113.7/8/8",
  ])("refuses %j", (text) => expect(parseAllowedAddress(text)).toBeUndefined());

  test.each(["2001:db8::/129", "fe80::1%eth0", "203.0.113.0/255.255.255.0", "203.0.113.1-203.0.113.9", "::ffff:203.0.113.0/120"])(
    "refuses %j",
    (text) => expect(parseAllowedAddress(text)).toBeUndefined(),
  );

  test.each([
    ["203.0.113.7", ["203.0.113.7", "::ffff:203.0.113.7"], ["203.0.113.8", "2001:db8::1", "unknown", ""]],
    ["203.0.113.0/24", ["203.0.113.0", "203.0.113.255"], ["203.0.112.255", "203.0.114.0"]],
    ["0.0.0.0/0", ["203.0.113.7"], ["2001:db8::1"]],
    ["2001:db8::/32", ["2001:db8::1", "2001:db8:ffff::"], ["2001:db9::", "203.0.113.7"]],
    ["::/0", ["2001:db8::1"], ["203.0.113.7"]],
  ])("%s is every address of it and no other", (entry, inside, outside) => {
    const allowed = addressFilter(["192.0.2.1", entry]);
    expect(inside.filter((address) => !allowed(address))).toEqual([]);
    expect(outside.filter(allowed)).toEqual([]);
    expect(allowed("192.0.2.1")).toBe(true);
  });

  test("are all addresses where none is named", () => {
    expect(["203.0.113.7", "2001:db8::1", "unknown"].every(addressFilter([]))).toBe(true);
  });
});
