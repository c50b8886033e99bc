import { describe, expect, test } from "vitest";
import { clientBlock, coarseAddress } from "./address";

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
