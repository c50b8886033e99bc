/** What of a page's HTML is looked at here: an element or a text. */
export interface HtmlNode {
  readonly type: string;
  readonly tagName?: string;
  readonly value?: string;
  properties?: Record<string, unknown>;
  readonly children?: readonly HtmlNode[];
}

const textOf = ({ value = "", children = [] }: HtmlNode): string => value + children.map(textOf).join("");

function elements(node: HtmlNode, ...names: readonly string[]): HtmlNode[] {
  const below = (node.children ?? []).flatMap((child) => elements(child, ...names));
  return names.includes(node.tagName ?? "") ? [node, ...below] : below;
}

function labelTable(table: HtmlNode): void {
  const labels = elements(table, "th").map((cell) => textOf(cell).trim());
  for (const row of elements(table, "tr")) {
    for (const [column, cell] of elements(row, "td").entries()) {
      const label = labels[column];
      if (label) cell.properties = { ...cell.properties, "data-label": label };
    }
  }
}

/** Tells each cell of a table the name of its column: on a phone, where a row is a block, there is no heading above it. */
export function labelCells(): (tree: HtmlNode) => void {
  return (tree) => {
    for (const table of elements(tree, "table")) labelTable(table);
  };
}
