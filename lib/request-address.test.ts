import { expect, test } from "vitest";
import { requestAddress } from "./request-address";

const addressFor = (headers: Record<string, string>, configured?: string) => requestAddress((name) => headers[name], configured);

test("the configured address decides", () => {
  expect(addressFor({ host: "other.example" }, "https://prices.example.com")).toBe("https://prices.example.com");
  expect(addressFor({}, "https://prices.example.com")).toBe("https://prices.example.com");
});

test.each([
  [{ host: "prices.example.com:8080" }, "http://prices.example.com:8080"],
  [{ host: "[::1]:3000" }, "http://[::1]:3000"],
  [{ host: "inner:3000", "x-forwarded-host": "prices.example.com", "x-forwarded-proto": "https" }, "https://prices.example.com"],
  [{ host: "prices.example.com", "x-forwarded-proto": "ftp" }, "http://prices.example.com"],
])("without it, the address is that of the request: %j", (headers, address) => {
  expect(addressFor(headers)).toBe(address);
});

test.each(["", "$(id)", 'a"b', "a b", "a/b", "user@a", "[::ffff:1.2.3.4]", "a:port", "a".repeat(254)])(
  "a host that could be code in a document or a shell is none: %j",
  (host) => {
    expect(addressFor({ host })).toBeUndefined();
    expect(addressFor({ host: "fine.example", "x-forwarded-host": host })).toBeUndefined();
  },
);
