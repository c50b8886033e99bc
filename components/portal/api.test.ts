import { afterEach, expect, test, vi } from "vitest";
import { callPortal } from "./api";

afterEach(() => vi.unstubAllGlobals());

/** Calls while `fetch` behaves so; `onLine` is what the browser says of its network. */
function callWith(fetch: () => Promise<Response>, onLine = true) {
  vi.stubGlobal("fetch", fetch);
  vi.stubGlobal("navigator", { onLine });
  return callPortal("GET", "keys");
}

const lost = () => Promise.reject(new TypeError("Failed to fetch"));

test("a call that nothing answered says that the service cannot be reached, or that the browser is offline", async () => {
  expect(await callWith(lost)).toMatchObject({
    failure: { id: "network", detail: expect.stringMatching(/^Can't reach the service\./) },
  });
  expect(await callWith(lost, false)).toMatchObject({
    failure: { id: "network", detail: expect.stringMatching(/^You're offline\./) },
  });
});

test("an error page of a proxy is an error of the service, never a lost connection", async () => {
  const page = new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "x-request-id": "r-1" } });
  expect(await callWith(async () => page)).toEqual({
    failure: {
      id: "internal_error",
      detail: "The service returned an error (HTTP 502). The connection works. Try again in a moment.",
      parameter: null,
      requestId: "r-1",
    },
  });
});

test("an error of the API keeps its own words, without marks of code, and its request id", async () => {
  const data = { detail: "Something `failed`.", request_id: "r-2", docs_url: "/docs/errors/internal-error" };
  const answer = Response.json({ code: 50001, message: "internal_error", data }, { status: 500 });
  expect(await callWith(async () => answer)).toMatchObject({
    failure: { id: "internal_error", detail: "Something failed.", requestId: "r-2" },
  });
});
