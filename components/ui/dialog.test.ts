import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { AlertDialog, Dialog, SearchDialog } from "./dialog";

test("a dialog that is open from the start is drawn by the browser alone, and breaks no server", () => {
  const words = { open: true, onOpenChange: () => undefined, title: "Create a key", description: "A new key.", children: "" };
  for (const kind of [Dialog, AlertDialog, SearchDialog]) expect(renderToStaticMarkup(createElement(kind, words))).toBe("");
});
