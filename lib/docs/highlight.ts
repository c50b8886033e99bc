import type { RehypeCodeOptions } from "fumadocs-core/mdx-plugins";
import { createCssVariablesTheme } from "shiki/core";

const PREFIX = "--shiki-";
const TOKEN = /--shiki-(?:token-)?([a-z-]+)/;

/** Classes in place of the style attribute Shiki writes on each token: shorter, and both themes read the same ones. */
const withClasses: NonNullable<RehypeCodeOptions["transformers"]>[number] = {
  name: "token-classes",
  span(node) {
    const token = TOKEN.exec(String(node.properties.style ?? ""))?.[1];
    delete node.properties.style;
    if (token !== undefined && token !== "foreground") node.properties.class = `token-${token}`;
  },
  pre(node) {
    node.properties = {};
  },
  line(node) {
    node.properties.class = "line";
  },
};

/** How code is coloured: by names of kinds, whose colours are in the style sheet of the documentation. */
export const highlighting: RehypeCodeOptions = {
  themes: { kinds: createCssVariablesTheme({ name: "kinds", variablePrefix: PREFIX }) },
  defaultColor: "kinds",
  defaultLanguage: "text",
  fallbackLanguage: "text",
  icon: false,
  tab: false,
  transformers: [withClasses],
};
