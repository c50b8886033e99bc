import { describe, expect, test } from "vitest";
import { OPTIONS, readOptions } from "./options";

const bench = async () => [];
const benches = { quotes: bench, klines: bench };
const others = { units: bench };
const values = { seconds: OPTIONS.seconds.default, rounds: OPTIONS.rounds.default };
const read = (given: Partial<Parameters<typeof readOptions>[0]["values"]> = {}, names: readonly string[] = []) =>
  readOptions({ values: { ...values, ...given }, names, benches, others });

describe("arguments of the bench", () => {
  test("without names, those of the table run, in their order", () => {
    expect(read().chosen.map(([name]) => name)).toEqual(["quotes", "klines"]);
    expect(read().effort).toMatchObject({ seconds: 2, rounds: 7 });
  });

  test("named ones run, also those outside the table", () => {
    expect(read({}, ["units", "quotes"]).chosen.map(([name]) => name)).toEqual(["units", "quotes"]);
  });

  test.each([
    [{}, ["dashboard"], 'Unknown bench "dashboard": use one of quotes, klines, units.'],
    [{}, ["toString"], 'Unknown bench "toString"'],
    [{ seconds: "0" }, [], "--seconds 0: must be a number above 0, at most 600."],
    [{ seconds: "soon" }, [], "--seconds soon"],
    [{ seconds: "601" }, [], "--seconds 601"],
    [{ rounds: "0" }, [], "--rounds 0: must be a whole number from 1 to 999."],
    [{ rounds: "1.5" }, [], "--rounds 1.5"],
    [{ rounds: "1000" }, [], "--rounds 1000"],
    [{ write: "mine" }, ["quotes"], "--write: the table is written from one whole run; name no benches."],
    [{ write: "" }, [], "--write: say what machine it was"],
  ])("a wrong argument is named: %o %o", (given, names, words) => {
    expect(() => read(given, names)).toThrow(words);
  });
});
