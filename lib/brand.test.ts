import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { brandOf, brandWords, contactOf, DEFAULT_BRAND, demoKeyOf, NAME_MARK, slugOf, webhookAgentOf } from "./brand";
import { isWellFormedKey } from "./contract/key-text";
import { DEMO_KEY_DEFAULT } from "./env";
import { BrandSchema, GROUNDS } from "./env-brand";

const named = (BRAND_NAME: string, more = {}) => brandOf(BrandSchema.parse({ BRAND_NAME, ...more }));

describe("the name of a brand", () => {
  test("stands in texts that were made without it, as it is", () => {
    const words = brandWords({ name: "A $& B", keyPrefix: "sw" });
    expect(words(`Welcome to ${NAME_MARK}, ${NAME_MARK}'s API. SpotwireError, Spotwire`)).toBe(
      "Welcome to A $& B, A $& B's API. SpotwireError, Spotwire",
    );
  });

  test.each([
    ["Acme & Sons", "acme-sons", "Acme-Sons-Webhooks/1"],
    ["Börse Zürich", "bo-rse-zu-rich", "B-rse-Z-rich-Webhooks/1"],
    ["市場", "market-data", "Webhooks/1"],
    ["Spotwire", "spotwire", "Spotwire-Webhooks/1"],
  ])("%s is for programs %s, and for receivers of webhooks %s", (name, slug, agent) => {
    expect([slugOf(named(name)), webhookAgentOf(named(name))]).toEqual([slug, agent]);
  });

  test("is the contact where there is another one than the program's, with the support", () => {
    expect(contactOf(DEFAULT_BRAND)).toEqual({ name: "The operator of this installation" });
    const support = { SUPPORT_EMAIL: "help@acme.example", SUPPORT_URL: "https://acme.example/help" };
    expect(contactOf(named("Acme", support))).toEqual({
      name: "Acme",
      email: "help@acme.example",
      url: "https://acme.example/help",
    });
  });
});

test.each([
  ["`sw_live_` and sw_test_…", "`acme_live_` and acme_test_…"],
  ["Bearer sw_…, sw_{live|test}_…", "Bearer acme_…, acme_{live|test}_…"],
  ["sw_(?:live|test)_[0-9A-Za-z]{36}", "acme_(?:live|test)_[0-9A-Za-z]{36}"],
  ["?token=sw_link_eyJsaW5r.x", "?token=acme_link_eyJsaW5r.x"],
  [DEMO_KEY_DEFAULT, DEMO_KEY_DEFAULT],
  ["psw_live_, sw_node_, swap", "psw_live_, sw_node_, swap"],
])("the prefix of keys stands in texts, never in a whole key: %s", (text, expected) => {
  expect(brandWords(named("Acme", { KEY_PREFIX: "acme" }))(text)).toBe(expected);
});

test("the demo key is made of name and prefix, and without either it is the one of every release", () => {
  expect(demoKeyOf(DEFAULT_BRAND)).toBe(DEMO_KEY_DEFAULT);
  const own = demoKeyOf(named("Acme & Sons", { KEY_PREFIX: "acme" }));
  expect(own).toMatch(/^acme_test_DEMOkeyOfAcmeSonsForEveryone/);
  expect(isWellFormedKey(own)).toBe(true);
  expect(isWellFormedKey(demoKeyOf(named("A name of exactly forty characters, 40!".replace(/[,!]/g, ""))))).toBe(true);
});

/** The colour of `oklch(L C h)` as #rrggbb. */
function hexOf(lightness: number, chroma: number, hue: number): string {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const [l, m, s] = [
    (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ];
  const parts = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const part = (value: number) => Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
  return `#${parts.map((value) => part(value).toString(16).padStart(2, "0")).join("")}`;
}

test("the grounds that an accent is compared with are those of the stylesheet", () => {
  const css = readFileSync("app/globals.css", "utf8");
  const pattern =
    /--(?:canvas|surface|sunken): light-dark\(oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\), oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)\)/g;
  const grounds = [...css.matchAll(pattern)].map((found) => found.slice(1).map(Number));
  expect(grounds).toHaveLength(3);
  const [darkestLight = []] = grounds.map((numbers) => numbers.slice(0, 3)).sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
  const [lightestDark = []] = grounds.map((numbers) => numbers.slice(3)).sort((a, b) => (b[0] ?? 0) - (a[0] ?? 0));
  const hex = ([lightness = 0, chroma = 0, hue = 0]: readonly number[]) => hexOf(lightness / 100, chroma, hue);
  expect({ light: hex(darkestLight), dark: hex(lightestDark) }).toEqual(GROUNDS);
});
