import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWellFormedKey } from "#lib/contract/key-text";
import { VENUES } from "#lib/contract/primitives";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { hashKey, keyLast4, keyPrefix, mintKey } from "./key-format";

const venue = fc.constantFrom(...VENUES);
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

describe("key format", () => {
  test("accepts every key it mints, with the marker of its venue and 44 characters", () => {
    fc.assert(
      fc.property(venue, (name) => {
        const key = mintKey(name);
        expect(key).toMatch(name === "live" ? /^sw_live_[0-9A-Za-z]{36}$/ : /^sw_test_[0-9A-Za-z]{36}$/);
        expect(isWellFormedKey(key)).toBe(true);
      }),
    );
  });

  test("refuses any single changed character", () => {
    fc.assert(
      fc.property(venue, fc.nat(43), fc.constantFrom(...BASE62), (name, index, character) => {
        const key = mintKey(name);
        fc.pre(key[index] !== character);
        expect(isWellFormedKey(key.slice(0, index) + character + key.slice(index + 1))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("refuses a character too many, too few, and two swapped neighbours", () => {
    fc.assert(
      fc.property(venue, fc.nat(42), (name, index) => {
        const key = mintKey(name);
        expect(isWellFormedKey(`${key}0`)).toBe(false);
        expect(isWellFormedKey(key.slice(0, index) + key.slice(index + 1))).toBe(false);
        fc.pre(key[index] !== key[index + 1]);
        const swapped = key.slice(0, index) + key.charAt(index + 1) + key.charAt(index) + key.slice(index + 2);
        expect(isWellFormedKey(swapped)).toBe(false);
      }),
    );
  });

  test("refuses any other text without throwing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(isWellFormedKey(text)).toBe(false);
      }),
    );
  });

  test("never mints the same key twice", () => {
    expect(new Set(Array.from({ length: 5_000 }, () => mintKey("live"))).size).toBe(5_000);
  });

  test("keeps a 32 byte hash, 12 first and 4 last characters", () => {
    const key = "sw_test_0123456789abcdefghijklmnopqrstuvwxyz";
    expect(hashKey(key).toString("hex")).toHaveLength(64);
    expect(keyPrefix(key)).toBe("sw_test_0123");
    expect(keyLast4(key)).toBe("wxyz");
  });

  test("takes the demo key that ships as well formed and readable", () => {
    expect(isWellFormedKey(DEMO_KEY_DEFAULT)).toBe(true);
    expect(keyPrefix(DEMO_KEY_DEFAULT)).toBe("sw_test_DEMO");
  });
});
