import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { handleAuth } from "#server/pages/sign-in/auth";
import { PORTAL, type PortalBrowser, portalBrowser } from "#server/testing/portal-browser";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";

let t: TestRuntime;
let browser: PortalBrowser;
beforeAll(async () => {
  t = await testRuntime();
  browser = portalBrowser();
});
afterAll(() => t.close());

async function codeOf(response: Response): Promise<number> {
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const { code, data } = (await response.json()) as { code: number; data: { request_id: string } };
  expect(data.request_id).toBe(response.headers.get("x-request-id"));
  return code;
}

const form = {};
const UNKNOWN: [path: string, form: Record<string, string> | undefined][] = [
  ["callback/nowhere", undefined],
  ["callback/nowhere", form],
  ["callback", undefined],
  ["callback/__proto__", undefined],
  ["signin/nowhere", form],
  ["constructor", undefined],
  ["verify-request", undefined],
  ["_log", form],
  ["csrf/extra", undefined],
  ["callback/credentials/extra", form],
];

describe("the paths of the sign-in library", () => {
  test.each(UNKNOWN)("%s does not exist: the answer is the envelope, not a page", async (path, body) => {
    expect(await codeOf(await browser.auth(path, body))).toBe(40402);
  });

  test.each<[string, Record<string, string> | undefined, string]>([
    ["csrf", form, "GET, HEAD, OPTIONS"],
    ["session", form, "GET, HEAD, OPTIONS"],
    ["callback/credentials", undefined, "POST, OPTIONS"],
  ])("%s with a method that it does not have is refused, with those it has", async (path, body, allow) => {
    const response = await browser.auth(path, body);
    expect(response.headers.get("allow")).toBe(allow);
    expect(await codeOf(response)).toBe(40501);
  });

  test.each(["javascript:alert(1)", "http://", "%00", "x".repeat(5_000)])(
    "the callback URL %.20s is no server error",
    async (url) => {
      const query = new URLSearchParams({ callbackUrl: url });
      for (const path of [`signin?${query}`, `csrf?${query}`, `error?${query}&error=Configuration`]) {
        const response = await browser.auth(path);
        expect(response.status, path).toBeLessThan(500);
        if (response.status >= 400) expect(await codeOf(response)).toBe(40001);
        else expect(response.headers.get("x-request-id")).toMatch(/^req_/);
      }
    },
  );

  test("fields that are no text, and a body that is no object, are no server error", async () => {
    for (const body of ['{"callbackUrl":7,"csrfToken":[],"json":{}}', "[1]", "null", '"text"', "{"]) {
      const headers = { host: new URL(PORTAL).host, origin: PORTAL, "content-type": "application/json" };
      const request = new Request(`${PORTAL}/api/auth/signin/credentials`, { method: "POST", headers, body });
      const response = await handleAuth(request, { params: Promise.resolve({ nextauth: ["signin", "credentials"] }) });
      expect(response.status, body).toBe(302);
    }
  });
});
