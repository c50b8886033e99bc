/** What of a syntax tree is looked at here. */
interface Node {
  readonly type: string;
  readonly name?: string | null;
  readonly attributes?: readonly { readonly name?: string; readonly value?: unknown }[];
  readonly children?: readonly Node[];
}

/** The part of the printer that is used: it prints what is inside a node. */
interface State {
  containerFlow(node: unknown, info: unknown): string;
}

const attribute = (node: Node, wanted: string) => node.attributes?.find(({ name }) => name === wanted)?.value;

const TITLES: Readonly<Record<string, string>> = { info: "Note", warn: "Warning" };

/** Elements of the pages, as readers of Markdown write the same. */
function printElement(node: Node, inside: () => string): string | undefined {
  switch (node.name) {
    case "Callout": {
      const title = TITLES[String(attribute(node, "type"))] ?? TITLES.info;
      return `> **${title}.** ${inside().trim().replaceAll("\n", "\n> ")}`;
    }
    case "Tab":
      return `${String(attribute(node, "value"))}:\n\n${inside()}`;
    case "Card":
      return `- [${String(attribute(node, "title"))}](${String(attribute(node, "href"))}): ${inside().trim()}`;
    case "Diagram":
      return `*Diagram: ${inside().trim()}*`;
    case "LiveChart":
      return `*A live chart of ${String(attribute(node, "ticker"))} ${String(attribute(node, "timeframe"))}, on the page itself.*`;
    case "Cards":
    case "Steps":
    case "Tabs":
    case "View":
    case "Views":
      return inside();
    default:
      return undefined;
  }
}

/** How a page is printed as Markdown: without anything only a browser understands. */
export const markdownOf = {
  headingIds: false,
  stringify(node: unknown, _parent: unknown, state: unknown, info: unknown): string | undefined {
    const one = node as Node;
    if (one.type !== "mdxJsxFlowElement") return undefined;
    return printElement(one, () => (state as State).containerFlow(one, info));
  },
};
