import { posix } from "node:path";
import ts from "typescript";
import { lineOf, type SourceFile, walkImports } from "./sources";

/** Files whose exports are used by name from outside the project: by Next, by a tool, by users of the client. */
const ENTRIES = [
  /^app\/(.*\/)?(page|layout|route|error|not-found|forbidden|opengraph-image)\.tsx?$/,
  /\.config\.ts$/,
  /\.d\.ts$/,
  /^lib\/client\/(index|lightweight-charts|tradingview)\.ts$/,
  /^components\/shell\/style-singleton\.ts$/,
  /(^e2e|\/testing)\/(global-setup|leftovers|memory-folder|total-reporter)\.ts$/,
];

/** Stands for every name of a module: `import * as`, `import()`, `export *`. */
const ALL = "*";

interface Export {
  readonly name: string;
  readonly line: number;
}

const stemOf = (path: string) => path.replace(/\.(ts|tsx|mts)$/, "").replace(/\/index$/, "");

const isExported = (node: ts.Node) =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);
const isDefault = (node: ts.Node) =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) ?? false);

function namesOf(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesOf(element.name) : []));
}

function declaredBy(statement: ts.Statement): string[] {
  if (ts.isExportAssignment(statement)) return ["default"];
  if (ts.isExportDeclaration(statement))
    return statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : [];
  if (!isExported(statement)) return [];
  if (isDefault(statement)) return ["default"];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(({ name }) => namesOf(name));
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [name.text];
}

/** The exports of a file, each name once: a type and a value may share one. */
function exportsOf({ tree }: SourceFile): Export[] {
  const found = new Map<string, Export>();
  for (const statement of tree.statements)
    for (const name of declaredBy(statement)) if (!found.has(name)) found.set(name, { name, line: lineOf(tree, statement) });
  return [...found.values()];
}

/** The names an import, a re-export, an `import()` or an import type takes from a module. */
function importedBy(node: ts.Node): { specifier: ts.Node | undefined; names: string[] } | undefined {
  if (ts.isImportDeclaration(node)) {
    const { name, namedBindings } = node.importClause ?? {};
    const named =
      namedBindings === undefined
        ? []
        : ts.isNamespaceImport(namedBindings)
          ? [ALL]
          : namedBindings.elements.map((element) => (element.propertyName ?? element.name).text);
    return { specifier: node.moduleSpecifier, names: name === undefined ? named : ["default", ...named] };
  }
  if (ts.isExportDeclaration(node)) {
    const { exportClause } = node;
    const named =
      exportClause !== undefined && ts.isNamedExports(exportClause)
        ? exportClause.elements.map((element) => (element.propertyName ?? element.name).text)
        : [ALL];
    return { specifier: node.moduleSpecifier, names: named };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return { specifier: node.argument.literal, names: [ALL] };
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return { specifier: node.arguments[0], names: [ALL] };
  return undefined;
}

/** Exports that no other file imports, one sentence each. A test counts as an importer. */
export function deadExports(sources: readonly SourceFile[]): string[] {
  const imported = new Map<string, Set<string>>();
  for (const { path, tree } of sources)
    walkImports(tree, (node) => {
      const { specifier, names } = importedBy(node) ?? {};
      if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
      const { text } = specifier;
      if (!text.startsWith("#") && !text.startsWith(".")) return;
      const target = stemOf(text.startsWith("#") ? text.slice(1) : posix.join(posix.dirname(path), text));
      imported.set(target, new Set([...(imported.get(target) ?? []), ...(names ?? [])]));
    });
  return sources.flatMap((source) => {
    const taken = imported.get(stemOf(source.path));
    if (taken?.has(ALL) || ENTRIES.some((entry) => entry.test(source.path))) return [];
    return exportsOf(source)
      .filter(({ name }) => !taken?.has(name))
      .map(({ name, line }) => `${source.path}:${line}: no other file imports ${name}`);
  });
}
