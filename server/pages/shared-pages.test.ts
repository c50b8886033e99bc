import { expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { sharedPage } from "./shared-pages";

test.each([
  ["/markets", SECOND_MS],
  ["/markets/XAUUSD", SECOND_MS],
  ["/markets/XAUUSD/opengraph-image", HOUR_MS],
  ["/markets/search.json", HOUR_MS],
  ["/markets/xauusd", undefined],
  ["/markets/XAUUSD/other", undefined],
  ["/data", MINUTE_MS],
  ["/data/XAUUSD", MINUTE_MS],
  ["/data/xauusd", undefined],
  ["/dashboard", undefined],
])("%s is shared for %s ms", (path, freshMs) => {
  expect(sharedPage(path, "a=b")?.freshMs).toBe(freshMs);
});

test.each([
  ["/markets", "venue=live", "?venue=live"],
  ["/markets/XAUUSD", "utm_source=a&venue=live&b=c", "?venue=live"],
  ["/markets", "venue=live&venue=live", ""],
  ["/markets", "venue=sandbox", ""],
  ["/markets/XAUUSD/opengraph-image", "venue=live", ""],
  ["/data", "venue=live", "?venue=live"],
  ["/data/XAUUSD", "venue=live&venue=live", ""],
  ["/data/XAUUSD", "year=2024", undefined],
  ["/data.json", "", ""],
  ["/data.json", "venue=live", undefined],
  ["/data.json", "a=b", undefined],
  ["/docs/quickstart", "venue=live", ""],
])("of the query of %s?%s a shared page depends on no more than: %s", (path, query, kept) => {
  expect(sharedPage(path, query)?.query).toBe(kept);
});
