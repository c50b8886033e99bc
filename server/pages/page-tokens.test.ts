import { describe, expect, test } from "vitest";
import type { Venue } from "#lib/contract/primitives";
import { type PortalBrowser, portalBrowser, signedInBrowser } from "#server/testing/portal-browser";
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

describe("the token with which pages show the live venue", () => {
  test("is given to a user for a live key of their own, also where there is no demo key, and to nobody else", async () => {
    const t = await testRuntime({ variables: { DEMO_KEY: "off" } });
    const { browser, accountId } = await signedInBrowser(t, "mine");
    const make = async (account: string, venue: Venue) => (await t.issueKey({ account, venue, liveAccess: true })).record.id;
    const [live, sandbox, foreign] = [await make("mine", "live"), await make("mine", "sandbox"), await make("other", "live")];
    const send = (sender: PortalBrowser, key_id: string) => sender.send("POST /page-tokens/live", { body: { key_id } });
    expect(await send(portalBrowser(), live)).toMatchObject(failed("unauthorized"));
    for (const id of [sandbox, foreign]) expect(await send(browser, id)).toMatchObject(failed("not_found"));
    const { token } = (await send(browser, live)).body.data;
    expect(await t.ask(INSTRUMENTS, { key: token })).toMatchObject({ status: 200 });
    await t.db.prisma.account.update({ where: { id: accountId }, data: { liveAccess: false } });
    expect(await send(browser, live)).toMatchObject(failed("live_access_required"));
    await t.close();
  });
});
