import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { type FarSide, lineFarSide } from "#server/testing/far-side";
import { commandOutcome } from "#server/testing/terminal";
import { feedCommand } from "./command";

const TOKEN = "a1b2c3-marked";
let db: TestDatabase;
let far: FarSide;
beforeAll(async () => {
  db = await testDatabase();
  far = await lineFarSide({
    "/instruments": { instruments: [{ name: "EUR_USD", displayPrecision: 5 }] },
    "/candles": { candles: [] },
  });
});
afterAll(async () => {
  await far.close();
  await db.close();
});

const OANDA = { OANDA_TOKEN: TOKEN, OANDA_ACCOUNT: "101-1", NEXTAUTH_SECRET: "a secret that is known to tests alone" };
const run = (line: string, variables: Record<string, string> = {}) =>
  commandOutcome(feedCommand, line.split(" ").filter(Boolean), { db, variables: { ...OANDA, FEED_URL: far.url, ...variables } });

test("npm run feed -- check prints each step of the provider of LIVE_FEED, and exits with 0 when ticks come", async () => {
  far.script((peer) => {
    const prices = { bids: [{ price: "1.1" }], asks: [{ price: "1.2" }] };
    peer.send(JSON.stringify({ type: "PRICE", instrument: "EUR_USD", time: new Date().toISOString(), ...prices }));
  });
  const { exitCode, output } = await run("check --wait 1", { LIVE_FEED: "oanda" });
  const lines = output.split("\n").filter((line) => !line.startsWith(" "));
  expect(lines.map((line) => line.split(/ +/).slice(0, 2).join(" "))).toEqual([
    "ok settings",
    "ok name",
    "ok connection",
    "ok login",
    "noted instruments",
    "ok prices",
    "noted history",
    "ok clock",
  ]);
  expect(exitCode).toBe(0);
  expect(output).not.toContain(TOKEN);
});

test("npm run feed -- check exits with 1 after the step that failed, and says what to do", async () => {
  far.refuse({ status: 401, body: `{"errorMessage":"bad token ${TOKEN}"}` });
  const { exitCode, output, errors } = await run("check oanda");
  expect(exitCode).toBe(1);
  expect(output).toMatch(/\nfailed {2}login .*answered 401.*\n +Only the owner of the account can change this/);
  expect(output + errors).not.toContain(TOKEN);
});

test("npm run feed -- check names the settings that are missing", async () => {
  const { exitCode, output } = await run("check tiingo");
  expect([exitCode, output.split("\n")[0]]).toEqual([1, "failed  settings     TIINGO_TOKEN missing"]);
});

test.each([
  ["", /use one of check/],
  ["check", /LIVE_FEED is none/],
  ["check nobody", /Unknown provider "nobody": use one of oanda/],
  ["check oanda tiingo", /Unexpected argument "tiingo"/],
  ["check oanda --wait 0", /--wait 0: must be/],
  ["check oanda --wait 601", /--wait 601: must be/],
])("npm run feed rejects %j with exit code 2", async (line, reason) => {
  const { exitCode, errors } = await run(line);
  expect([exitCode, errors]).toEqual([2, expect.stringMatching(reason)]);
});
