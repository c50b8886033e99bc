import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { decodedPath, normalizeTarget } from "./target";

function settled(url: string): string | false {
  const request = { url } as IncomingMessage;
  return normalizeTarget(request) && (request.url ?? "");
}

describe("a request target", () => {
  test.each([
    ["/api/v1/market/status?at=2026-01-01T00:00:00.5Z", "/api/v1/market/status?at=2026-01-01T00:00:00.5Z"],
    ["/docs/quickstart.md", "/docs/quickstart.md"],
    ["/x/../api/auth/csrf", "/api/auth/csrf"],
    ["/x/%2e%2E/api/auth/csrf?a=../b", "/api/auth/csrf?a=../b"],
    ["/api/./auth/csrf", "/api/auth/csrf"],
    ["/api/.%2e/api/portal/forgot", "/api/portal/forgot"],
    ["/api\\auth\\csrf", "/api/auth/csrf"],
    ["/api/portal/forgot#", "/api/portal/forgot"],
    ["//h/../api/auth/csrf", "//api/auth/csrf"],
    ["http://h/docs/../api/auth/csrf?x=1", "/api/auth/csrf?x=1"],
  ])("the request target %s is normalized the way Next does it", (target, path) => {
    expect(settled(target)).toBe(path);
  });

  test("a request target that is neither a path nor a URL is rejected", () => {
    expect(settled("*")).toBe(false);
    expect(settled("mailto:x")).toBe(false);
  });

  test("a request target is compared percent-decoded, and matches nothing when it cannot be decoded", () => {
    expect(decodedPath("/api/%61uth/csrf?x=%zz")).toBe("/api/auth/csrf");
    expect(decodedPath("/docs/%zz")).toBeUndefined();
  });
});
