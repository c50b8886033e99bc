import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { CHANGELOG_ENTRIES_MAX_COUNT, changelogFeed } from "./changelog-feed";

const BASE = "https://prices.example.com";
const CHANGELOG = `# Changelog

## 0.2.0 (2026-11-23)

To upgrade, see below.

### Fixed, 2026-11-25

- **A** & \`b\`, for a < 5. See [Limits](https://prices.example.com/docs/limits#streams) and <https://example.com>. <script>

### Added, 2026-11-26

- One.

### Fixed, 2026-11-25

- C.

## 0.1.0 (2026-11-22)

### Fixed, 2026-11-21

- First.
`;
const idsOf = (feed: string) => Array.from(feed.matchAll(/<entry><id>([^<]+)/g), ([, id]) => id);

test("has an entry for each day and kind of change of a version, the newest day first", () => {
  const feed = changelogFeed(BASE, "Acme", CHANGELOG);
  expect(idsOf(feed)).toEqual([
    `${BASE}/changelog#0.2.0-added-2026-11-26`,
    `${BASE}/changelog#0.2.0-fixed-2026-11-25`,
    `${BASE}/changelog#0.1.0-fixed-2026-11-21`,
  ]);
  expect(feed).toContain(`<title>0.2.0, 2026-11-25: Fixed</title><link href="${BASE}/docs/changelog#fixed-2026-11-25"/>`);
  const html =
    "<ul>\n<li><strong>A</strong> &amp; <code>b</code>, for a &lt; 5. See " +
    '<a href="https://prices.example.com/docs/limits#streams">Limits</a> and <a href="https://example.com">https://example.com</a>. ' +
    "&lt;script&gt;</li>\n<li>C.</li>\n</ul>";
  const escaped = html.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  expect(feed).toContain(`<content type="html">${escaped}</content>`);
  expect(feed).not.toContain("To upgrade");
  expect(feed).toContain('<link rel="self" type="application/atom+xml" href="https://prices.example.com/changelog.atom"/>');
  expect(feed).toContain("<updated>2026-11-26T00:00:00.000Z</updated>\n");
});

test("reads every section of the real changelog, up to a maximum", () => {
  const real = readFileSync(path.join(import.meta.dirname, "../../CHANGELOG.md"), "utf8");
  const sections = real.split(/^## /m).reduce((sum, version) => sum + new Set(version.match(/^### .*/gm)).size, 0);
  expect(idsOf(changelogFeed(BASE, "Acme", real))).toHaveLength(Math.min(sections, CHANGELOG_ENTRIES_MAX_COUNT));
  const days = Array.from({ length: 28 }, (_, day) => `2026-01-${String(day + 1).padStart(2, "0")}`);
  const many = days.map((day) => `### Added, ${day}\n\n- a\n\n### Fixed, ${day}\n\n- b`).join("\n\n");
  expect(idsOf(changelogFeed(BASE, "Acme", `## 9.0.0\n\n${many}`))).toHaveLength(CHANGELOG_ENTRIES_MAX_COUNT);
});
