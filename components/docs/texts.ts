import { cloneElement, isValidElement, type ReactElement, type ReactNode } from "react";

type Parent = ReactElement<{ readonly children?: ReactNode }>;

/** The text inside a node of a page. */
export function textOf(node: ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(textOf).join("");
  return isValidElement(node) ? textOf((node as Parent).props.children) : "";
}

/** The same node with every text in it changed. */
export function withTexts(node: ReactNode, change: (text: string) => ReactNode): ReactNode {
  if (typeof node === "string") return change(node);
  if (Array.isArray(node)) return node.map((child: ReactNode) => withTexts(child, change));
  if (!isValidElement(node)) return node;
  const { children } = (node as Parent).props;
  if (children === undefined) return node;
  const changed = withTexts(children, change);
  // One by one: in a list each would need a key.
  return cloneElement(node as Parent, {}, ...(Array.isArray(changed) ? changed : [changed]));
}
