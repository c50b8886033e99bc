import { expect, test } from "vitest";
import { ADMIN_PAGES, DASHBOARD_PAGES, isCurrentPage, SITE_PAGES } from "./pages";

test.each([
  ["/docs/operations/klines", SITE_PAGES, ["/docs"]],
  ["/status", SITE_PAGES, ["/status"]],
  ["/markets/XAUUSD", SITE_PAGES, ["/markets"]],
  ["/data/XAUUSD", SITE_PAGES, ["/data"]],
  ["/docs-other", SITE_PAGES, []],
  ["/dashboard/keys", DASHBOARD_PAGES, ["/dashboard/keys"]],
  ["/dashboard", DASHBOARD_PAGES, ["/dashboard"]],
  ["/admin/data/EURUSD", ADMIN_PAGES, ["/admin/data"]],
])("on %s exactly the link of that page or its section is current", (path, pages, current) => {
  expect(pages.map(({ href }) => href).filter((href) => isCurrentPage(href, path, pages))).toEqual(current);
});
