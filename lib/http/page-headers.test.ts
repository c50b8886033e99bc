import { describe, expect, test } from "vitest";
import { pageHeaders, sharedPagePolicy } from "./page-headers";

const NONCE = "q3b8Wn0r1u6Lx2c9ZpVtAg==";
const plain = { nonce: NONCE, tls: false, development: false };

/** The sources of one directive of the content security policy. */
function sources(facts: Parameters<typeof pageHeaders>[0], directive: string): string[] | undefined {
  const policy = pageHeaders(facts)["content-security-policy"] ?? "";
  const found = policy.split("; ").find((entry) => entry.split(" ")[0] === directive);
  return found?.split(" ").slice(1);
}

describe("the headers of a page", () => {
  test("page headers allow only scripts with the nonce, and scripts that those load", () => {
    expect(sources(plain, "script-src")).toEqual(["'self'", `'nonce-${NONCE}'`, "'strict-dynamic'"]);
    expect(sources(plain, "object-src")).toEqual(["'none'"]);
    expect(sources(plain, "base-uri")).toEqual(["'none'"]);
  });

  test("page headers allow only style sheets of this origin", () => {
    expect(sources(plain, "style-src")).toEqual(["'self'"]);
  });

  test("a page for everybody has the same policy, with the hashes of its scripts in place of a nonce", () => {
    const hash = "'sha256-15S4FGE7rP6kq/PzA1uIhN3+8zfaO6/TnJp4fMWo7lE='";
    const own = pageHeaders(plain)["content-security-policy"]?.replace(`'nonce-${NONCE}' 'strict-dynamic'`, hash);
    expect(sharedPagePolicy([hash], false)).toBe(own);
    expect(pageHeaders({ ...plain, nonce: undefined })).not.toHaveProperty("content-security-policy");
  });

  test("page headers forbid framing, and forms that are sent to another origin", () => {
    expect(sources(plain, "frame-ancestors")).toEqual(["'none'"]);
    expect(sources(plain, "form-action")).toEqual(["'self'"]);
  });

  test("page headers restrict every other source to this origin", () => {
    expect(sources(plain, "default-src")).toEqual(["'self'"]);
    expect(sources(plain, "connect-src")).toEqual(["'self'"]);
  });

  test("page headers require TLS only when the service uses TLS", () => {
    expect(sources(plain, "upgrade-insecure-requests")).toBeUndefined();
    const secured = { ...plain, tls: true };
    expect(sources(secured, "upgrade-insecure-requests")).toEqual([]);
  });

  test("page headers are relaxed in development only, and only as hot reload needs", () => {
    const development = { ...plain, development: true };
    expect(sources(development, "script-src")).toContain("'unsafe-eval'");
    expect(sources(development, "script-src")).not.toContain("'unsafe-inline'");
    expect(sources(development, "style-src")).toContain("'unsafe-inline'");
  });
});
