import { component, element, elementsOf, type HtmlNode } from "./html-tree";
import { operationAt } from "./reference/paths";

/** Pages of operations, and the overview of them. */
const OPERATION_FILE = /[\\/]reference[\\/]operations[\\/]([\w-]+)\.md$/;
/** Sections that stand in the column beside the text. */
const BESIDE: ReadonlySet<unknown> = new Set(["request", "response-example"]);

interface File {
  readonly path: string;
}

/** The page up to its first heading, then each heading with what follows it. */
function sectionsOf(children: readonly HtmlNode[]): HtmlNode[][] {
  const sections: HtmlNode[][] = [[]];
  for (const child of children) {
    if (child.tagName === "h2") sections.push([]);
    sections.at(-1)?.push(child);
  }
  return sections;
}

/** Said by the form already. */
const isPlaygroundLink = (node: HtmlNode) =>
  elementsOf(node, "a").some(({ properties }) => String(properties?.href).startsWith("/playground?"));

/** Puts the request of an operation, a form that sends it and the example beside its text, where they stay in view. */
export function operationColumns(): (tree: HtmlNode, file: File) => void {
  return (tree, file) => {
    const page = OPERATION_FILE.exec(file.path)?.[1];
    const operation = operationAt(`/docs/operations/${page}`);
    if (operation === undefined) return;
    const [intro = [], ...sections] = sectionsOf(tree.children ?? []);
    const isBeside = ([heading]: readonly HtmlNode[]) => BESIDE.has(heading?.properties?.id);
    const [request = [], ...answers] = sections.filter(isBeside);
    const beside = [
      ...request.filter((node) => !isPlaygroundLink(node)),
      component("TryIt", "id", operation.id),
      ...answers.flat(),
    ];
    const text = sections.filter((section) => !isBeside(section)).flat();
    tree.children = [
      element(
        "div",
        "operation",
        element("div", "operation-intro", ...intro),
        element("div", "operation-beside", ...beside),
        element("div", "operation-text", ...text),
      ),
    ];
  };
}
