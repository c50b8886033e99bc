import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { testPrincipal as principal } from "#lib/testing/principal";
import { matchesOrigin, parseOrigin } from "./origin";
import { parsePermissions, readerOf, readsOf } from "./permissions";
import { hasScope, originAllowed } from "./principal";

describe("scopes", () => {
  test("holds exactly the scopes of the key", () => {
    expect(hasScope(principal({}), "market:read")).toBe(true);
    expect(hasScope(principal({}), "market:stream")).toBe(false);
  });
});

describe("allowed origins", () => {
  test.each([
    ["https://app.example.com", "https://app.example.com"],
    ["HTTPS://App.Example.com", "https://app.example.com"],
    ["https://app.example.com:443", "https://app.example.com"],
    ["http://localhost:3000", "http://localhost:3000"],
    ["http://[::1]:3000", "http://[::1]:3000"],
    ["capacitor://localhost", "capacitor://localhost"],
    ["https://*.example.com", "https://*.example.com"],
  ])("takes %s as %s", (text, stored) => expect(parseOrigin(text)).toBe(stored));

  test.each([
    "*",
    "null",
    "NULL",
    "file://",
    "file:///home/a/b.html",
    "file://localhost",
    "",
    "https://",
    "https://*",
    "https://*.com",
    "http://*.example.com",
    "https://a.*.example.com",
  ])("refuses %j", (text) => expect(parseOrigin(text)).toBeUndefined());

  test.each([
    "https://a.example/",
    "https://a.example/x",
    "https://a.example?q",
    "https://u@a.example",
    "https://*.example.com:8443",
  ])("refuses %j", (text) => expect(parseOrigin(text)).toBeUndefined());

  test("stores what it stored before, unchanged", () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ["https", "http"], withQueryParameters: false }), (url) => {
        const stored = parseOrigin(new URL(url).origin);
        expect(stored).toBe(new URL(url).origin);
      }),
    );
  });

  test("matches names below a wildcard, not the name itself, a look-alike, another scheme or another port", () => {
    const entries = ["https://*.example.com"];
    expect(matchesOrigin(entries, "https://a.example.com")).toBe(true);
    expect(matchesOrigin(entries, "https://a.b.example.com")).toBe(true);
    for (const origin of [
      "https://example.com",
      "https://evilexample.com",
      "https://a.example.com.evil.net",
      "http://a.example.com",
      "https://a.example.com:8443",
      "https://evil.net/.example.com",
      "https://evil.net#.example.com",
      "https://.example.com",
      "null",
    ])
      expect(matchesOrigin(entries, origin), origin).toBe(false);
  });

  test("refuses any browser when the list is empty, and lets a request without Origin pass", () => {
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        expect(originAllowed(principal({}), new URL(url).origin)).toBe(false);
      }),
    );
    expect(originAllowed(principal({}), null)).toBe(true);
    expect(originAllowed(principal({ origins: "any" }), "null")).toBe(true);
  });
});

describe("permissions", () => {
  const readable = (stored: unknown) =>
    LIVE_LISTINGS.filter(readerOf(readsOf(parsePermissions(stored)))).map(({ ticker }) => ticker);

  test("narrows the catalogue to asset classes or tickers", () => {
    expect(readable({ kind: "all" })).toHaveLength(LIVE_LISTINGS.length);
    expect(readable({ kind: "asset_classes", values: ["metals"] })).toContain("XAUUSD");
    expect(readable({ kind: "asset_classes", values: ["metals"] })).not.toContain("EURUSD");
    expect(readable({ kind: "tickers", values: ["EURUSD", "GBPUSD"] })).toEqual(["EURUSD", "GBPUSD"]);
  });

  test("permits nothing when they cannot be understood", () => {
    for (const stored of [null, {}, "all", { kind: "ALL" }, { kind: "tickers" }]) expect(readable(stored)).toEqual([]);
  });
});
