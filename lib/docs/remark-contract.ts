import { OPERATION_LIST } from "#lib/contract/operations";
import manifest from "../../package.json" with { type: "json" };
import { pythonSdist, pythonWheel } from "./client-package";
import { operationPath } from "./reference/paths";
import { CONTRACT_TABLES } from "./tables";

/** What of a syntax tree is looked at here. */
interface Node {
  type: string;
  name?: string | null;
  url?: string;
  value?: string;
  meta?: string | null;
  attributes?: { type: string; name?: string; value?: unknown }[];
  children?: Node[];
}

interface Processor {
  parse(text: string): Node;
}

/** Marks for those who run the samples. */
const MARKS = /\b(?:norun|cell)\b/g;
/** Files whose names change with a release. */
const FILES: Readonly<Record<string, string>> = {
  PYTHON_WHEEL: pythonWheel(manifest.version),
  PYTHON_SDIST: pythonSdist(manifest.version),
};
const FILE = new RegExp(Object.keys(FILES).join("|"), "g");

const named = (text: string) => text.replace(FILE, (name) => FILES[name] ?? name);

const isElement = ({ type }: Node) => type === "mdxJsxFlowElement" || type === "mdxJsxTextElement";

function operationLink(node: Node): Node {
  const id = node.attributes?.find(({ name }) => name === "id")?.value;
  const operation = OPERATION_LIST.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`<OperationLink id="${id}"> names no operation.`);
  const own = node.children ?? [];
  const children = own.length > 0 ? own : [{ type: "text", value: operation.summary }];
  return { type: "link", url: operationPath(operation), children };
}

function replacement(node: Node, processor: Processor): readonly Node[] {
  if (isElement(node) && node.name === "OperationLink") {
    const link = operationLink(node);
    return [node.type === "mdxJsxFlowElement" ? { type: "paragraph", children: [link] } : link];
  }
  // They say nothing to a reader.
  if (node.type === "code" && node.meta) node.meta = node.meta.replace(MARKS, "").trim();
  if (node.value !== undefined) node.value = named(node.value);
  if (node.url !== undefined) node.url = named(node.url);
  const table = isElement(node) && typeof node.name === "string" ? CONTRACT_TABLES[node.name] : undefined;
  if (table !== undefined) return processor.parse(table()).children ?? [];
  if (node.children !== undefined) node.children = node.children.flatMap((child) => replacement(child, processor));
  return [node];
}

/**
 * Puts the contract into a guide: `<LimitsTable/>` and its kind become Markdown tables, `<OperationLink id="klines"/>` a link,
 * and PYTHON_WHEEL the name of the file.
 * What comes after sees plain Markdown: the page, its `.md`, the search index and llms.txt cannot differ.
 * @throws Error for an operation that does not exist
 */
export function expandContract(this: Processor): (tree: Node) => void {
  return (tree) => {
    tree.children = (tree.children ?? []).flatMap((child) => replacement(child, this));
  };
}
