import { NAME_MARK } from "#lib/brand";

/** What of a syntax tree is looked at here. */
interface Node {
  readonly type: string;
  readonly value?: string;
  children?: Node[];
}

const NAME: Node = { type: "mdxJsxTextElement", name: "ServiceName", attributes: [], children: [] } as Node;

function named(node: Node): Node[] {
  if (node.children !== undefined) node.children = node.children.flatMap(named);
  if (node.type !== "text" || !node.value?.includes(NAME_MARK)) return [node];
  const [first = "", ...others] = node.value.split(NAME_MARK);
  return [{ type: "text", value: first }, ...others.flatMap((value) => [NAME, { type: "text", value }])];
}

/** Puts `<ServiceName/>` where a page has the mark of the name, which is known when the page is shown. */
export function nameService(): (tree: Node) => void {
  return (tree) => void named(tree);
}
