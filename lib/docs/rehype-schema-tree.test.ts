import { expect, test } from "vitest";
import { element, elementsOf, type HtmlNode, htmlText, text } from "./html-tree";
import { operationColumns } from "./rehype-operation-columns";
import { schemaTrees } from "./rehype-schema-tree";

const code = (value: string) => element("code", "", text(value));
const row = (tag: string, ...cells: readonly HtmlNode[]) => element("tr", "", ...cells.map((cell) => element(tag, "", cell)));

function pageOf(head: readonly string[], ...rows: readonly (readonly HtmlNode[])[]): HtmlNode {
  const heading = element("thead", "", row("th", ...head.map(text)));
  const page = element(
    "root",
    "",
    element("table", "", heading, element("tbody", "", ...rows.map((cells) => row("td", ...cells)))),
  );
  schemaTrees()(page);
  return page;
}

const classOf = (node: HtmlNode, name: string) =>
  elementsOf(node, "span", "ul", "details", "p").filter(({ properties }) => (properties?.className as string[])?.includes(name));

test("fields of a field fold under it, under their own names; the first level is open", () => {
  const page = pageOf(
    ["Field", "Type", "Description", "Example"],
    [code("items"), text("list of Kline"), text("The klines."), text("")],
    [code("items[].open"), text("number"), text("First price."), code("1.1")],
    [code("items[].spread"), text("number, optional"), text("Spread."), text("")],
    [code("items[].deep"), text("object"), text("More."), text("")],
    [code("items[].deep.x"), text("object"), text("More."), text("")],
  );
  const [first, second] = elementsOf(page, "details");
  expect([first?.properties?.open, second?.properties?.open]).toEqual([true, undefined]);
  expect(elementsOf(page, "summary").map(htmlText)).toEqual(["3 fields", "1 field"]);
  expect(elementsOf(page, "code").map(htmlText)).toEqual(["items", "open", "1.1", "spread", "deep", "x"]);
  expect(classOf(page, "schema-optional")).toHaveLength(1);
  expect(htmlText(page)).not.toContain(", optional");
});

test("a parameter says when it is required, and a long list of values is folded", () => {
  const values = Array.from({ length: 12 }, (_, index) => [code(`V${index}`), text(", ")]).flat();
  const types = element("td", "", ...values);
  const page = pageOf(["Parameter", "Type"], [code("a"), text("string")], [code("b"), text("string, optional")]);
  expect(classOf(page, "schema-required")).toHaveLength(1);
  const many = element("tbody", "", element("tr", "", element("td", "", code("c")), types));
  const table = element("root", "", element("table", "", row("th", text("Field"), text("Type")), many));
  schemaTrees()(table);
  expect(classOf(table, "schema-values")).toHaveLength(1);
});

test("errors unfold to cause and fix, with a link to their page; other tables stay tables", () => {
  const link = element("a", "", code("rate_limited"));
  link.properties = { href: "/docs/errors/rate-limited" };
  const page = pageOf(["Error", "Status", "Cause", "Fix"], [link, text("429"), text("Too many."), text("Wait.")]);
  expect(elementsOf(page, "summary").map(htmlText)).toEqual(["429rate_limited"]);
  expect(elementsOf(page, "a")[0]?.properties?.href).toBe("/docs/errors/rate-limited");
  expect(elementsOf(pageOf(["Header", "Description"], [code("ETag"), text("x")]), "table")).toHaveLength(1);
});

test("an operation has its request and example beside its text, other pages do not", () => {
  const heading = (id: string) => ({ ...element("h2", "", text(id)), properties: { id } });
  const tree = () =>
    element(
      "root",
      "",
      text("intro"),
      heading("request"),
      text("curl"),
      heading("parameters"),
      text("a"),
      heading("response-example"),
    );
  const page = tree();
  operationColumns()(page, { path: "/x/reference/operations/klines.md" });
  const [columns] = page.children ?? [];
  expect(columns?.children?.map(htmlText)).toEqual(["intro", "requestcurlresponse-example", "parametersa"]);
  for (const path of ["/x/reference/operations/index.md", "/x/guides/klines.mdx"]) {
    const other = tree();
    operationColumns()(other, { path });
    expect(other).toEqual(tree());
  }
});
