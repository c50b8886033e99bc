import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { NodeReport } from "#lib/contract/portal-health";
import { listAudit } from "#server/store/access/audit";
import { createCatalogue } from "#server/store/market/catalogue";
import { writeNodeReport } from "#server/store/market/node-reports";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { commandOutcome } from "#server/testing/terminal";
import { instrumentsCommand } from "./instruments";

const REPORT: NodeReport = {
  version: "1",
  role: "all",
  started_ms: 0,
  checks: {},
  rates: null,
  connections: 0,
  lag_ms: { live: null, sandbox: null },
  memory_bytes: 0,
  loop_lag_ms: 0,
  disk: null,
};

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const command = (line: string) =>
  commandOutcome(instrumentsCommand, line.split(" ").filter(Boolean), { db, clock: manualClock(0) });
const run = async (line: string) => (await command(line)).output;
/** The newest entries of the operators' audit log, oldest first. */
const audited = async (count: number) => (await listAudit(db, { limit: count })).items.reverse();

test("npm run instruments adds an instrument with defaults from its ticker, and the catalogue loads it", async () => {
  await run("add nokjpy --asset-class forex --digits 3");
  expect((await createCatalogue(db, "live")).find("NOKJPY")).toMatchObject({
    base: "NOK",
    quote: "JPY",
    pipSize: 0.01,
    calendar: "forex",
    staleAfterS: 60,
    openGraceS: 300,
  });
  expect(await run("list")).toMatch(/^NOKJPY +forex +digits 3 +calendar forex$/m);
  expect(await audited(1)).toMatchObject([
    { actor: "command line", action: "instrument.add", target: "NOKJPY", before: null, after: { venue: "live", digits: 3 } },
  ]);
});

test("npm run instruments retires and restores, with an audit log entry for each instrument", async () => {
  await run("retire EURUSD xauusd");
  expect(await run("list")).not.toMatch(/EURUSD|XAUUSD/);
  expect(await run("list --all")).toMatch(/^EURUSD .* retired 1970-01-01T00:00:00.000Z$/m);
  await run("restore EURUSD");
  expect(await run("list")).toMatch(/^EURUSD /m);
  expect(await run("list --venue sandbox")).toMatch(/^XAUUSD /m);
  const since = { venue: "live", retired_at: "1970-01-01T00:00:00.000Z" };
  const offered = { venue: "live", retired_at: null };
  // Retired already: nothing changes.
  await run("retire XAUUSD");
  const entries = await audited(3);
  expect(entries.slice(0, 2)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: "instrument.retire", target: "EURUSD", before: offered, after: since }),
      expect.objectContaining({ action: "instrument.retire", target: "XAUUSD", before: offered, after: since }),
    ]),
  );
  expect(entries[2]).toMatchObject({ action: "instrument.restore", target: "EURUSD", before: since, after: offered });
});

test("npm run instruments -- retire --not-offered retires what all running nodes say that the feed does not offer", async () => {
  const retire = "retire --not-offered";
  expect(await command(retire)).toMatchObject({ exitCode: 2, errors: expect.stringContaining("no node has reported") });
  const report = async (name: string, live: readonly string[]) => {
    const made = { ...REPORT, not_offered: { live: [...live], sandbox: [] } };
    await writeNodeReport(db.pool, { id: randomUUID(), name }, made);
  };
  await report("a", ["USDJPY", "GBPUSD", "NOSUCH"]);
  await report("b", ["USDJPY", "NOSUCH"]);
  expect(await run(retire)).toBe("retire: USDJPY on live");
  expect(await run("list")).not.toMatch(/USDJPY/);
  expect(await run("list")).toMatch(/GBPUSD/);
  expect(await audited(1)).toMatchObject([{ actor: "command line", action: "instrument.retire", target: "USDJPY" }]);
  expect(await run(retire)).toBe("Every instrument of live is offered.");
  await run("restore USDJPY");
});

test.each([
  ["retire EURUSD --not-offered", /--not-offered: use it alone/],
  ["restore --not-offered", /--not-offered: use it alone/],
  ["add EURUSD --asset-class forex --digits 5", /already listed on live/],
  ["add NEWONE --asset-class forex --digits many", /--digits/],
  ["add NEWONE --asset-class test --digits 5", /--asset-class/],
  ["add NEWONE --asset-class forex --digits 5 --calendar mars", /no calendar mars.*forex/],
  ["add NEWONE --asset-class forex --digits 5 --venue sandbox", /added to live only/],
  ["add", /Missing argument: TICKER/],
  ["retire EURUSD NOSUCH", /Not listed on live: NOSUCH/],
  ["retire", /Missing argument: TICKER/],
  ["list --venue moon", /live/],
  ["list --what", /--what/],
  ["sell EURUSD", /Unknown command "sell"/],
])("npm run instruments rejects %j with exit code 2 and changes nothing", async (line, reason) => {
  const before = await run("list --all");
  const { exitCode, errors } = await command(line);
  expect(errors).toMatch(reason);
  expect(exitCode).toBe(2);
  expect(await run("list --all")).toBe(before);
});
