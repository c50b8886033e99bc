import { expect, test } from "vitest";
import { type HtmlNode, labelCells } from "./rehype-table-labels";

const text = (value: string): HtmlNode => ({ type: "text", value });
const element = (tagName: string, ...children: HtmlNode[]): HtmlNode => ({ type: "element", tagName, properties: {}, children });

test("each cell carries the name of its column; one beyond the columns has none", () => {
  const head = element("thead", element("tr", element("th", element("code", text("reason"))), element("th", text(" Meaning "))));
  const cells = ["weekend", "closed", "extra"].map((word) => element("td", text(word)));
  labelCells()(element("div", element("table", head, element("tbody", element("tr", ...cells)))));
  expect(cells.map(({ properties }) => properties)).toEqual([{ "data-label": "reason" }, { "data-label": "Meaning" }, {}]);
});
