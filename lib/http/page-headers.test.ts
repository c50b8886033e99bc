import { describe, expect, test } from "vitest";
import { pageHeaders } from "./page-headers";

const NONCE = "q3b8Wn0r1u6Lx2c9ZpVtAg==";
const plain = { nonce: NONCE, tls: false, development: false };

/** The sources of one directive of the policy. */
function sources(facts: Parameters<typeof pageHeaders>[0], directive: string): string[] | undefined {
  const policy = pageHeaders(facts)["content-security-policy"] ?? "";
  const found = policy.split("; ").find((entry) => entry.split(" ")[0] === directive);
  return found?.split(" ").slice(1);
}

describe("the headers of a page", () => {
  test("let no script run but those with the nonce, and what they load", () => {
    expect(sources(plain, "script-src")).toEqual(["'self'", `'nonce-${NONCE}'`, "'strict-dynamic'"]);
    expect(sources(plain, "object-src")).toEqual(["'none'"]);
    expect(sources(plain, "base-uri")).toEqual(["'none'"]);
  });

  test("let no style sheet in that lacks the nonce", () => {
    expect(sources(plain, "style-src")).toEqual(["'self'", `'nonce-${NONCE}'`]);
  });

  test("forbid being framed, and sending forms elsewhere", () => {
    expect(sources(plain, "frame-ancestors")).toEqual(["'none'"]);
    expect(sources(plain, "form-action")).toEqual(["'self'"]);
  });

  test("fall back to this origin for everything that is not named", () => {
    expect(sources(plain, "default-src")).toEqual(["'self'"]);
    expect(sources(plain, "connect-src")).toEqual(["'self'"]);
  });

  test("pin the reader to TLS only where there is TLS", () => {
    expect(pageHeaders(plain)).not.toHaveProperty("strict-transport-security");
    expect(sources(plain, "upgrade-insecure-requests")).toBeUndefined();
    const secured = { ...plain, tls: true };
    expect(pageHeaders(secured)["strict-transport-security"]).toBe("max-age=31536000");
    expect(sources(secured, "upgrade-insecure-requests")).toEqual([]);
  });

  test("loosen only what hot reload needs, and only in development", () => {
    const development = { ...plain, development: true };
    expect(sources(development, "script-src")).toContain("'unsafe-eval'");
    expect(sources(development, "script-src")).not.toContain("'unsafe-inline'");
    expect(sources(development, "style-src")).toContain("'unsafe-inline'");
  });
});
