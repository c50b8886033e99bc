import { expect, test } from "vitest";
import { favoritesIn } from "./favorites";

test("favorites are read as a bounded list of texts, and anything else as none", () => {
  expect(favoritesIn(["EURUSD", 5, "XAUUSD", null])).toEqual(["EURUSD", "XAUUSD"]);
  for (const stored of [undefined, "", "rubbish", {}, 7]) expect(favoritesIn(stored)).toEqual([]);
  expect(favoritesIn(Array.from({ length: 5_000 }, () => "A"))).toHaveLength(1_000);
});
