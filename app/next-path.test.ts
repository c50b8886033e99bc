import { describe, expect, test } from "vitest";
import { nextPath } from "./next-path";

describe("the path after a sign-in", () => {
  test("the path after a sign-in is the requested page with its query", () => {
    expect(nextPath("/dashboard/logs?status=4&q=a%2Fb")).toBe("/dashboard/logs?status=4&q=a%2Fb");
    expect(nextPath("/admin")).toBe("/admin");
    expect(nextPath("/markets/XAUUSD?venue=live")).toBe("/markets/XAUUSD?venue=live");
    expect(nextPath("/data/XAUUSD?venue=live")).toBe("/data/XAUUSD?venue=live");
  });

  test.each([
    undefined,
    "",
    "https://evil.example/dashboard",
    "//evil.example/dashboard",
    "/\\evil.example/dashboard",
    "/\t/evil.example/dashboard",
    "javascript:alert(1)",
    "dashboard",
    "/signin?next=/signin",
    "/dashboards",
    "/dashboard/../api/auth/signout",
    ["/dashboard", "/admin"],
  ])("the path after a sign-in is the dashboard for %j", (asked) => {
    expect(nextPath(asked)).toBe("/dashboard");
  });
});
