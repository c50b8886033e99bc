import { readdirSync, readFileSync } from "node:fs";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { DRAWINGS } from "./diagram";

const GUIDES = new URL("../../../lib/docs/guides/", import.meta.url);

test("every diagram that a guide names is drawn, and every drawing is in a guide", () => {
  const files = readdirSync(GUIDES, { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".mdx"));
  const texts = files.map((file) => readFileSync(new URL(file, GUIDES), "utf8")).join("\n");
  const named = [...texts.matchAll(/<Diagram name="([^"]+)">/g)].map(([, name]) => name);
  expect([...new Set(named)].sort()).toEqual(Object.keys(DRAWINGS).sort());
});

test.each(Object.entries(DRAWINGS))(
  "the diagram %s says in words what it shows, and has only colours of the theme",
  (_, Drawing) => {
    const html = renderToStaticMarkup(createElement(Drawing));
    expect(/aria-label="([^"]+)"/.exec(html)?.[1]?.length).toBeGreaterThan(80);
    expect(html).not.toMatch(/#[0-9a-f]{3,6}\b|rgb\(|NaN|undefined/i);
  },
);
