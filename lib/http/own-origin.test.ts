import { describe, expect, test } from "vitest";
import { foreignOrigin } from "./own-origin";

const PUBLIC = "https://prices.example.com";

describe("the origin of a request", () => {
  test.each([
    ["http://127.0.0.1:3000", "127.0.0.1:3000", undefined],
    ["https://prices.example.com", "prices.example.com", undefined],
    ["https://prices.example.com", "internal:3000", PUBLIC],
    ["https://prices.example.com:443", "prices.example.com", undefined],
    ["http://prices.example.com:80", "prices.example.com", undefined],
    ["HTTPS://Prices.Example.com", "prices.EXAMPLE.com:443", undefined],
    ["http://[::1]:3000", "[::1]:3000", undefined],
  ])("%s is the service's own when it is reached as %s with PUBLIC_URL %s", (origin, host, publicUrl) => {
    expect(foreignOrigin(origin, host, publicUrl)).toBeNull();
  });

  test.each([
    ["https://evil.example.net", "prices.example.com", PUBLIC],
    ["https://prices.example.com.evil.example.net", "prices.example.com", PUBLIC],
    ["https://prices.example.com:8443", "prices.example.com", PUBLIC],
    ["https://prices.example.com/path", "prices.example.com", undefined],
    ["null", "null", PUBLIC],
    ["file://", "prices.example.com", undefined],
    ["", "", undefined],
    ["http://", "prices.example.com", undefined],
    ["https://app.example.com", null, PUBLIC],
  ])("%s is foreign when the service is reached as %s with PUBLIC_URL %s", (origin, host, publicUrl) => {
    expect(foreignOrigin(origin, host, publicUrl)).toBe(origin);
  });

  test("no origin is none", () => {
    expect(foreignOrigin(null, "prices.example.com", PUBLIC)).toBeNull();
  });
});
