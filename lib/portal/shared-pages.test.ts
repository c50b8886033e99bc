import { expect, test } from "vitest";
import { HOUR_MS, SECOND_MS } from "#lib/units";
import { sharedPage } from "./shared-pages";

test.each([
  ["/markets", SECOND_MS],
  ["/markets/XAUUSD", SECOND_MS],
  ["/markets/XAUUSD/opengraph-image", HOUR_MS],
  ["/markets/xauusd", undefined],
  ["/markets/XAUUSD/other", undefined],
  ["/dashboard", undefined],
])("%s is shared for %s ms", (path, freshMs) => {
  expect(sharedPage(path)?.freshMs).toBe(freshMs);
});
