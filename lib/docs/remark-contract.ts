import { NAME_MARK } from "#lib/brand";
import { operationDocsPath } from "#lib/contract/operation";
import { PROGRAM_NAME } from "#lib/env-brand";
import { OPERATION_LIST } from "#lib/operations/declarations";
import manifest from "../../package.json" with { type: "json" };
import { pythonSdist, pythonWheel } from "./client-names";
import { recordFields } from "./reference/records";
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
const COMMENT = /^\/\*.*\*\/$/;
/** What changes with a release: files by their names, and the version of the clients. */
const FILES: Readonly<Record<string, string>> = {
  PYTHON_WHEEL: pythonWheel(manifest.version),
  PYTHON_SDIST: pythonSdist(manifest.version),
  CLIENT_VERSION: manifest.version,
};
const FILE = new RegExp(Object.keys(FILES).join("|"), "g");

/** The name of the program as a word; names of classes and files have it in code. */
const PROGRAM = new RegExp(`\\b${PROGRAM_NAME}\\b`, "g");

const named = (text: string) => text.replace(FILE, (name) => FILES[name] ?? name);

const isElement = ({ type }: Node) => type === "mdxJsxFlowElement" || type === "mdxJsxTextElement";

function attribute(node: Node, wanted: string): string | undefined {
  const value = node.attributes?.find(({ name }) => name === wanted)?.value;
  return typeof value === "string" ? value : undefined;
}

/** The table that an element stands for; undefined for another element. */
function tableOf(node: Node): string | undefined {
  if (!isElement(node) || typeof node.name !== "string") return undefined;
  if (node.name === "Fields") return recordFields(attribute(node, "of") ?? "", attribute(node, "only")?.split(" "));
  return CONTRACT_TABLES[node.name]?.();
}

function operationLink(node: Node): Node {
  const id = attribute(node, "id");
  const operation = OPERATION_LIST.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`<OperationLink id="${id}"> names no operation.`);
  const own = node.children ?? [];
  const children = own.length > 0 ? own : [{ type: "text", value: operation.summary }];
  return { type: "link", url: operationDocsPath(operation), children };
}

function replacement(node: Node, processor: Processor): readonly Node[] {
  if (isElement(node) && node.name === "OperationLink") {
    const link = operationLink(node);
    return [node.type === "mdxJsxFlowElement" ? { type: "paragraph", children: [link] } : link];
  }
  // Comments and marks say nothing to a reader.
  if (node.type === "mdxFlowExpression" && COMMENT.test(node.value ?? "")) return [];
  if (node.type === "code" && node.meta) node.meta = node.meta.replace(MARKS, "").trim();
  if (node.value !== undefined) node.value = named(node.type === "text" ? node.value.replace(PROGRAM, NAME_MARK) : node.value);
  if (node.url !== undefined) node.url = named(node.url);
  const table = tableOf(node);
  if (table !== undefined) return processor.parse(table).children ?? [];
  if (node.children !== undefined) node.children = node.children.flatMap((child) => replacement(child, processor));
  return [node];
}

/**
 * Puts the contract into a guide: `<LimitsTable/>` and its kind become Markdown tables, `<Fields of="Kline"/>` the fields of a record (with `only`, those it names), `<OperationLink id="klines"/>` a link,
 * PYTHON_WHEEL the name of the file, and CLIENT_VERSION the version of the clients. Comments are left out. The name of the program becomes a mark outside of code, because an
 * installation may go by another one, which is known when it runs.
 * What comes after sees plain Markdown: the page, its `.md`, the search index and llms.txt cannot differ.
 * @throws Error for an operation, a record or a field that does not exist
 */
export function expandContract(this: Processor): (tree: Node) => void {
  return (tree) => {
    tree.children = (tree.children ?? []).flatMap((child) => replacement(child, this));
  };
}
