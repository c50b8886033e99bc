import { describe, expect, test } from "vitest";
import { portalBrowser } from "#server/testing/portal-browser";
import { failed, testRuntime } from "#server/testing/runtime";

const INSTRUMENTS = "/api/v1/market/instruments";
const BURST = 60;

describe("the token with which pages call for a reader", () => {
  test("is given to anybody and reads the sandbox from the portal's origin alone; a client that asks for too many is refused", async () => {
    const t = await testRuntime();
    const reader = portalBrowser();
    const { token } = (await reader.send("POST /page-tokens")).body.data;
    expect(await t.ask(INSTRUMENTS, { key: token })).toMatchObject({ status: 200 });
    expect(await t.ask(INSTRUMENTS, { key: token, headers: { origin: "https://elsewhere.example" } })).toMatchObject(
      failed("origin_not_allowed"),
    );
    for (let asked = 1; asked < BURST; asked += 1) expect((await reader.send("POST /page-tokens")).status).toBe(200);
    expect(await reader.send("POST /page-tokens")).toMatchObject(failed("rate_limited"));
    expect((await portalBrowser().send("POST /page-tokens")).status).toBe(200);
    await t.close();
  });

  test("is not given where there is no demo key, and one of before ends with it", async () => {
    const t = await testRuntime({ variables: { DEMO_KEY: "off" } });
    expect(await portalBrowser().send("POST /page-tokens")).toMatchObject(failed("not_found"));
    const { token } = t.access.mintPortalToken({
      reader: "00000000-0000-4000-8000-000000000000",
      origin: "http://spotwire.test",
    });
    expect(await t.ask(INSTRUMENTS, { key: token })).toMatchObject(failed("unauthorized"));
    await t.close();
  });
});
