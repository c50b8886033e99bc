import { afterAll, beforeAll, expect, test } from "vitest";
import { httpStatus } from "#lib/contract/errors";
import { SERVICE_STATUS_PATH } from "#lib/contract/service-status";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { GET } from "./route";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

/** The server passes every method to the handler of GET. */
async function ask(method: string) {
  const response = await GET(new Request(`http://spotwire.test${SERVICE_STATUS_PATH}`, { method }));
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

test("status.json tells any site the state of the service, and HEAD the same without a body", async () => {
  const got = await ask("GET");
  expect(got).toMatchObject({ status: 200, body: { at_ms: t.clock.now(), venues: [{ venue: "live" }, { venue: "sandbox" }] } });
  const head = await ask("HEAD");
  expect(head).toMatchObject({ status: 200, body: undefined });
  for (const { headers } of [got, head]) {
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("access-control-allow-origin")).toBe("*");
  }
});

test.each(["DELETE", "POST", "PUT", "PATCH", "OPTIONS"])(
  "status.json refuses %s and lists the allowed methods",
  async (method) => {
    const answer = await ask(method);
    expect(answer).toMatchObject({
      status: httpStatus("method_not_allowed"),
      ...failed("method_not_allowed", { allowed: ["GET", "HEAD"] }),
    });
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  },
);
