/** What of a page's HTML is looked at here: an element or a text. */
export interface HtmlNode {
  readonly type: string;
  readonly tagName?: string;
  readonly value?: string;
  properties?: Record<string, unknown>;
  children?: HtmlNode[];
  /** Of a component of the pages. */
  readonly name?: string;
  readonly attributes?: readonly { readonly type: "mdxJsxAttribute"; readonly name: string; readonly value: string }[];
}

/** The text inside a node. */
export const htmlText = ({ value = "", children = [] }: HtmlNode): string => value + children.map(htmlText).join("");

/** The elements of these names, the node itself included, in the order of the page. */
export function elementsOf(node: HtmlNode, ...names: readonly string[]): HtmlNode[] {
  const below = (node.children ?? []).flatMap((child) => elementsOf(child, ...names));
  return names.includes(node.tagName ?? "") ? [node, ...below] : below;
}

export const text = (value: string): HtmlNode => ({ type: "text", value });

/** An element with a class. */
export function element(tagName: string, className: string, ...children: readonly HtmlNode[]): HtmlNode {
  const properties = className === "" ? {} : { className: className.split(" ") };
  return { type: "element", tagName, properties, children: [...children] };
}

/** A component of the pages, with one attribute. */
export function component(name: string, attribute: string, value: string): HtmlNode {
  return { type: "mdxJsxFlowElement", name, attributes: [{ type: "mdxJsxAttribute", name: attribute, value }], children: [] };
}
