import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";

/** One import: its line, what it imports, and whether it disappears when types are stripped. */
interface ImportLine {
  readonly line: number;
  /** Project path without extension ("lib/domain/tick"), or the package's name ("zod", "node:fs"). */
  readonly target: string;
  readonly internal: boolean;
  readonly typeOnly: boolean;
}

/** A source file of the project, parsed. Paths are relative to the project and use "/". */
export interface SourceFile {
  readonly path: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly ImportLine[];
  readonly lineCount: number;
  readonly isTest: boolean;
}

const FOLDERS = ["app", "components", "e2e", "lib", "prisma", "server"];
const GENERATED = "lib/generated";
const SOURCE = /\.(ts|tsx|mts)$/;
const TEST = /\.(test|spec)\.tsx?$/;

function pathsUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return path.endsWith(`/${GENERATED}`) ? [] : pathsUnder(path);
    return SOURCE.test(entry.name) ? [path] : [];
  });
}

/** The 1-based line a node starts on. */
export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

/** Calls `visit` for every node below `root`, itself included. */
export function walk(root: ts.Node, visit: (node: ts.Node) => void): void {
  visit(root);
  ts.forEachChild(root, (child) => walk(child, visit));
}

/**
 * Calls `visit` for every node that may import. Imports and re-exports are statements of the file itself; only an `import()` and
 * an import type can be anywhere in it.
 */
export function walkImports(tree: ts.SourceFile, visit: (node: ts.Node) => void): void {
  if (/\bimport\s*\(/.test(tree.text)) walk(tree, visit);
  else tree.statements.forEach(visit);
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.length > 0 &&
    named.elements.every((element) => element.isTypeOnly)
  );
}

/** What a specifier refers to: a place in the project, or a package (without the path inside it). */
function resolveSpecifier(from: string, specifier: string): { target: string; internal: boolean } {
  if (specifier.startsWith("#")) return { target: specifier.slice(1), internal: true };
  if (specifier.startsWith(".")) return { target: posix.join(posix.dirname(from), specifier), internal: true };
  if (specifier.startsWith("node:")) return { target: specifier, internal: false };
  const parts = specifier.split("/");
  return { target: parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/"), internal: false };
}

/** The specifier of an import, export-from, import() expression or import type; undefined for any other node. */
function specifierOf(node: ts.Node): { specifier: ts.Node; typeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) return { specifier: node.moduleSpecifier, typeOnly: isTypeOnly(node.importClause) };
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) return { specifier: node.moduleSpecifier, typeOnly: node.isTypeOnly };
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return { specifier: node.argument.literal, typeOnly: true };
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && node.arguments[0])
    return { specifier: node.arguments[0], typeOnly: false };
  return undefined;
}

function importsOf(path: string, tree: ts.SourceFile): ImportLine[] {
  const found: ImportLine[] = [];
  walkImports(tree, (node) => {
    const named = specifierOf(node);
    if (named === undefined || !ts.isStringLiteralLike(named.specifier)) return;
    found.push({ line: lineOf(tree, node), typeOnly: named.typeOnly, ...resolveSpecifier(path, named.specifier.text) });
  });
  return found;
}

/** Parses one source; `path` determines the rules that apply to it. */
export function parseSource(path: string, text: string): SourceFile {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const lineCount = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return { path, tree, imports: importsOf(path, tree), lineCount, isTest: TEST.test(path) };
}

/** All sources of the project in `root` except generated ones, parsed. */
export function readSources(root: string): SourceFile[] {
  const cwd = join(root, "/");
  return FOLDERS.flatMap((folder) => pathsUnder(posix.join(cwd, folder))).map((path) =>
    parseSource(path.slice(cwd.length), readFileSync(path, "utf8")),
  );
}
