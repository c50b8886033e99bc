import { expect, test } from "vitest";
import { element, text } from "./html-tree";
import { labelCells } from "./rehype-table-labels";

test("each cell carries the name of its column; one beyond the columns has none", () => {
  const titles = [element("th", "", element("code", "", text("reason"))), element("th", "", text(" Meaning "))];
  const cells = ["weekend", "closed", "extra"].map((word) => element("td", "", text(word)));
  const table = element(
    "table",
    "",
    element("thead", "", element("tr", "", ...titles)),
    element("tbody", "", element("tr", "", ...cells)),
  );
  labelCells()(element("div", "", table));
  expect(cells.map(({ properties }) => properties)).toEqual([{ "data-label": "reason" }, { "data-label": "Meaning" }, {}]);
});
