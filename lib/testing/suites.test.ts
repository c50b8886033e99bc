import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { SLOW_COMMANDS, SLOW_TESTS, touchedBy } from "../../vitest.config";

/** Whether a file or folder of the project begins with this path. */
const begins = (place: string) =>
  existsSync(place) || readdirSync(path.dirname(place)).some((name) => name.startsWith(path.basename(place)));

test("the slow tests and the places that they guard exist", () => {
  const places = [...Object.entries(SLOW_TESTS).flat(2), ...Object.values(SLOW_COMMANDS).flat()];
  expect(places.filter((place) => !begins(place))).toEqual([]);
});

test("a change picks the slow tests that guard what it touches, and those that it changes", () => {
  const picked = touchedBy(["lib/client-python/README.md", "e2e/firefox.spec.ts"], SLOW_TESTS);
  expect(picked).toEqual(["e2e/firefox.spec.ts", "e2e/python/"]);
  expect(touchedBy(["LICENSE"], SLOW_TESTS)).toEqual([]);
  expect(touchedBy(undefined, SLOW_TESTS)).toEqual(Object.keys(SLOW_TESTS));
});
