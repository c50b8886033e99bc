export type Cell = string | number;

/** A bar inside a cell would end it. */
const cellText = (cell: Cell) => String(cell).replaceAll("|", "\\|").replaceAll("\n", " ");

/** A table in Markdown. */
export function markdownTable(head: readonly Cell[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
