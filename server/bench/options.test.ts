import { describe, expect, test } from "vitest";
import { OPTIONS, readOptions } from "./options";

const values = { seconds: OPTIONS.seconds.default, rounds: OPTIONS.rounds.default };
const read = (given: Partial<Parameters<typeof readOptions>[0]["values"]> = {}, names: readonly string[] = []) =>
  readOptions({ values: { ...values, ...given }, names });

describe("arguments of the bench", () => {
  test("without names, those of the table run, in their order", () => {
    expect(read().chosen).toEqual(["rest", "push", "fanout", "next", "cold", "import"]);
    expect(read().effort).toMatchObject({ seconds: 0.4, rounds: 3 });
  });

  test("named ones run, also those outside the table", () => {
    expect(read({}, ["units", "rest"]).chosen).toEqual(["units", "rest"]);
  });

  test.each([
    [{}, ["dashboard"], 'Unknown bench "dashboard": use one of rest, push, fanout, next, cold, import, units, memory, history.'],
    [{}, ["toString"], 'Unknown bench "toString"'],
    [{ seconds: "0" }, [], "--seconds 0: must be a number above 0, at most 600."],
    [{ seconds: "soon" }, [], "--seconds soon"],
    [{ seconds: "601" }, [], "--seconds 601"],
    [{ rounds: "0" }, [], "--rounds 0: must be a whole number from 1 to 7."],
    [{ rounds: "1.5" }, [], "--rounds 1.5"],
    [{ rounds: "8" }, [], "--rounds 8"],
    [{ write: "mine" }, ["rest"], "--write: the table is written from one whole run; name no benches."],
    [{ write: "mine", against: "main" }, [], "--write: the table has no place for another commit; leave out --against."],
    [{ write: "" }, [], "--write: say what machine it was"],
  ])("a wrong argument is named: %o %o", (given, names, words) => {
    expect(() => read(given, names)).toThrow(words);
  });
});
