import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCatalogue } from "#lib/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { runInstruments } from "./instruments";

describe("npm run instruments", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.close());

  async function run(line: string): Promise<string> {
    const lines: string[] = [];
    await runInstruments(line.split(" ").filter(Boolean), db, new Date(0), (text) => lines.push(text));
    return lines.join("\n");
  }

  test("adds an instrument with what follows from its ticker, and the catalogue takes it", async () => {
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
  });

  test("retires and restores, and lists what is retired when asked", async () => {
    await run("retire EURUSD xauusd");
    expect(await run("list")).not.toMatch(/EURUSD|XAUUSD/);
    expect(await run("list --all")).toMatch(/^EURUSD .* retired 1970-01-01T00:00:00.000Z$/m);
    await run("restore EURUSD");
    expect(await run("list")).toMatch(/^EURUSD /m);
    expect(await run("list --venue sandbox")).toMatch(/^XAUUSD /m);
  });

  test.each([
    ["add EURUSD --asset-class forex --digits 5", /listed on live already/],
    ["add NEWONE --asset-class forex --digits many", /digits/],
    ["add NEWONE --asset-class test --digits 5", /--asset-class/],
    ["add NEWONE --asset-class forex --digits 5 --calendar mars", /no calendar mars.*forex/],
    ["add NEWONE --asset-class forex --digits 5 --venue sandbox", /added to live/],
    ["add", /ticker/],
    ["retire EURUSD NOSUCH", /Not listed on live: NOSUCH/],
    ["retire", /at least one/],
    ["list --venue moon", /live/],
    ["list --what", /--what/],
    ["sell EURUSD", /Unknown command sell/],
  ])("refuses %s in words, changing nothing", async (line, words) => {
    const before = await run("list --all");
    await expect(run(line)).rejects.toThrow(words);
    expect(await run("list --all")).toBe(before);
  });
});
