import { expect, test } from "vitest";
import { readFavorites } from "./favorites";

test("favorites are read as a bounded list of texts, and anything else as none", () => {
  expect(readFavorites('["EURUSD",5,"XAUUSD",null]')).toEqual(["EURUSD", "XAUUSD"]);
  for (const text of [null, "", "rubbish", "{}", "7"]) expect(readFavorites(text)).toEqual([]);
  expect(readFavorites(JSON.stringify(Array.from({ length: 5_000 }, () => "A")))).toHaveLength(1_000);
});
