import { elementsOf, type HtmlNode, htmlText } from "./html-tree";

function labelTable(table: HtmlNode): void {
  const labels = elementsOf(table, "th").map((cell) => htmlText(cell).trim());
  for (const row of elementsOf(table, "tr")) {
    for (const [column, cell] of elementsOf(row, "td").entries()) {
      const label = labels[column];
      if (label) cell.properties = { ...cell.properties, "data-label": label };
    }
  }
}

/** Tells each cell of a table the name of its column: on a phone, where a row is a block, there is no heading above it. */
export function labelCells(): (tree: HtmlNode) => void {
  return (tree) => {
    for (const table of elementsOf(tree, "table")) labelTable(table);
  };
}
