import { element, elementsOf, type HtmlNode, htmlText, text } from "./html-tree";

/** First heading of the tables that describe fields, and the word that marks the exception among them. */
const TREES: Readonly<Record<string, { readonly mark: "required" | "optional" }>> = {
  Field: { mark: "optional" },
  Parameter: { mark: "required" },
};
const ERROR_LIST = "Error";
const OPTIONAL = /, optional$/;
/** `data.items[].open`: where it belongs, and its own name. */
const NESTED = /^(.+?)(?:\[\])*\.([^.]+)$/;
/** A longer list of values is folded. */
const VALUES_MAX_COUNT = 9;

/** A row of the table, and the rows below it. */
interface Entry {
  readonly label: string;
  readonly cells: readonly HtmlNode[];
  readonly children: Entry[];
}

const inside = (cell: HtmlNode | undefined): HtmlNode[] => cell?.children ?? [];
const cellsOf = (row: HtmlNode) => (row.children ?? []).filter(({ tagName }) => tagName === "td");

function entriesOf(rows: readonly HtmlNode[]): Entry[] {
  const known = new Map<string, Entry>();
  const top: Entry[] = [];
  for (const row of rows) {
    const cells = cellsOf(row);
    const name = cells[0] === undefined ? "" : htmlText(cells[0]);
    const [, parent = "", own = name] = NESTED.exec(name) ?? [];
    const home = known.get(parent);
    const entry: Entry = { label: home === undefined ? name : own, cells, children: [] };
    known.set(name, entry);
    (home?.children ?? top).push(entry);
  }
  return top;
}

/** The type of a field, without the word for an optional one, which becomes a mark. */
function typeNodes(cell: HtmlNode | undefined): { nodes: HtmlNode[]; optional: boolean } {
  const nodes = [...inside(cell)];
  const last = nodes.at(-1);
  const optional = last?.type === "text" && OPTIONAL.test(last.value ?? "");
  if (last !== undefined && optional) nodes.splice(-1, 1, text((last.value ?? "").replace(OPTIONAL, "")));
  const values = nodes.filter(({ tagName }) => tagName === "code").length;
  if (values <= VALUES_MAX_COUNT) return { nodes, optional };
  return { nodes: [element("details", "schema-values", element("summary", "", text(`${values} values`)), ...nodes)], optional };
}

function fold(children: readonly Entry[], mark: "required" | "optional", depth: number): HtmlNode {
  const summary = element("summary", "", text(`${children.length} ${children.length === 1 ? "field" : "fields"}`));
  const details = element("details", "schema-fold", summary, list(children, mark, depth + 1));
  // The first level is what most readers come for.
  if (depth === 0) details.properties = { ...details.properties, open: true };
  return details;
}

function item({ label, cells, children }: Entry, mark: "required" | "optional", depth: number): HtmlNode {
  const [, type, meaning, example] = cells;
  const { nodes, optional } = typeNodes(type);
  const marked = optional === (mark === "optional") ? [element("span", `schema-${mark}`, text(mark))] : [];
  const sample = inside(example);
  return element(
    "li",
    "",
    element("div", "schema-head", element("code", "", text(label)), element("span", "schema-type", ...nodes), ...marked),
    element("p", "", ...inside(meaning)),
    ...(sample.length === 0 ? [] : [element("p", "schema-example", text("Example: "), ...sample)]),
    ...(children.length === 0 ? [] : [fold(children, mark, depth)]),
  );
}

function list(entries: readonly Entry[], mark: "required" | "optional", depth: number): HtmlNode {
  return element("ul", "schema", ...entries.map((entry) => item(entry, mark, depth)));
}

/** An error of an operation: its name and status, unfolding to cause and fix. */
function errorItem(row: HtmlNode): HtmlNode {
  const [name, status, cause, fix] = cellsOf(row);
  const code = element("code", "", text(name === undefined ? "" : htmlText(name)));
  const head = element("summary", "", element("span", "error-status", ...inside(status)), code);
  const page = elementsOf(name ?? text(""), "a")[0];
  const more = element("a", "", text("Example and details"));
  more.properties = { href: page?.properties?.href };
  const body = [element("p", "", ...inside(cause)), element("p", "", element("strong", "", text("Fix: ")), ...inside(fix))];
  return element("li", "", element("details", "", head, ...body, element("p", "", more)));
}

function treeOf(table: HtmlNode): HtmlNode | undefined {
  const [first] = elementsOf(table, "th");
  const title = first === undefined ? "" : htmlText(first);
  const rows = elementsOf(table, "tr").slice(1);
  if (title === ERROR_LIST) return element("ul", "error-list", ...rows.map(errorItem));
  const kind = TREES[title];
  return kind === undefined ? undefined : list(entriesOf(rows), kind.mark, 0);
}

/**
 * Shows the tables of fields and parameters as trees that fold, and the errors of an operation as lines that unfold. Markdown and
 * the search index, which are made before, keep the tables.
 */
export function schemaTrees(): (tree: HtmlNode) => void {
  const change = (node: HtmlNode): void => {
    if (node.children === undefined) return;
    node.children = node.children.map((child) => (child.tagName === "table" ? (treeOf(child) ?? child) : child));
    for (const child of node.children) change(child);
  };
  return change;
}
