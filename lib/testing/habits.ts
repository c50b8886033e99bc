import ts from "typescript";
import { lineOf, type SourceFile, walk } from "./sources";

const FILE_MAX_LINES = 350;
const FUNCTION_MAX_LINES = 100;
/** For a factory that is the only content of its module: it is as long as a module may be. */
const FACTORY_MAX_LINES = 160;

/** Places where the environment may be read: lib/env, and code that starts the product from outside. */
const ENVIRONMENT_READERS = ["lib/env.ts", "lib/testing/", "server/testing/", "e2e/"];
/** Facts about the world are data, and data may be long. */
const DATA = ["lib/domain/calendars/", "lib/domain/catalogue/"];
const MUTATING_METHODS = new Set([
  "set",
  "add",
  "push",
  "delete",
  "clear",
  "pop",
  "shift",
  "unshift",
  "splice",
  "sort",
  "reverse",
  "fill",
]);
/** Mutable by purpose: there is no reason to keep one at module level. */
const STATEFUL_CLASSES = new Set(["WeakMap", "WeakSet", "LRUCache", "EventEmitter", "AbortController"]);

const within = (source: SourceFile, places: readonly string[]) => places.some((place) => source.path.startsWith(place));

/** Reports a file that is too long. */
function longFile(source: SourceFile): string[] {
  if (source.isTest || within(source, DATA) || source.lineCount <= FILE_MAX_LINES) return [];
  return [`${source.path}: ${source.lineCount} lines, at most ${FILE_MAX_LINES}`];
}

function linesOf(source: SourceFile, node: ts.Node): number {
  return source.tree.getLineAndCharacterOfPosition(node.end).line + 2 - lineOf(source.tree, node);
}

/** The only function that a module exports, if it creates what the module is about. */
function factoryOf(source: SourceFile): ts.Node | undefined {
  const exported = source.tree.statements.filter(
    (statement) =>
      (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) &&
      statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
  );
  const [only, second] = exported;
  const isFactory = only !== undefined && ts.isFunctionDeclaration(only) && /^(create|start)[A-Z]/.test(only.name?.text ?? "");
  return second === undefined && isFactory ? only : undefined;
}

/** Reports functions that are too long. Inner functions count as part of the outer ones. */
function longFunctions(source: SourceFile): string[] {
  if (source.isTest) return [];
  const found: string[] = [];
  const factory = factoryOf(source);
  walk(source.tree, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const lines = linesOf(source, node);
    const max = node === factory ? FACTORY_MAX_LINES : FUNCTION_MAX_LINES;
    if (lines > max) found.push(`${source.path}:${lineOf(source.tree, node)}: function of ${lines} lines, at most ${max}`);
  });
  return found;
}

/** Every use of `object.name` in a file, as "line", for the given names. */
function accesses(source: SourceFile, object: string, name?: string): number[] {
  const lines: number[] = [];
  if (!source.tree.text.includes(object)) return lines;
  walk(source.tree, (node) => {
    if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return;
    if (node.expression.text === object && (name === undefined || node.name.text === name)) lines.push(lineOf(source.tree, node));
  });
  return lines;
}

/** Reports reads of the environment outside lib/env. */
function strayEnvironment(source: SourceFile): string[] {
  if (within(source, ENVIRONMENT_READERS)) return [];
  return accesses(source, "process", "env").map((line) => `${source.path}:${line}: process.env is read in lib/env alone`);
}

/** Reports console output that bypasses the log; commands may print. */
function strayConsole(source: SourceFile): string[] {
  if (source.isTest || within(source, ["server/cli/", "e2e/"])) return [];
  return accesses(source, "console").map((line) => `${source.path}:${line}: console is for commands; use the log`);
}

/** Reports domain code that is not a pure function of its arguments: the clock, randomness. */
function impureDomain(source: SourceFile): string[] {
  if (source.isTest || !source.path.startsWith("lib/domain/")) return [];
  const lines = [
    ...accesses(source, "Date", "now"),
    ...accesses(source, "Math", "random"),
    ...accesses(source, "performance", "now"),
  ];
  walk(source.tree, (node) => {
    if (ts.isNewExpression(node) && node.expression.getText(source.tree) === "Date" && !node.arguments?.length)
      lines.push(lineOf(source.tree, node));
  });
  return lines.map((line) => `${source.path}:${line}: time and chance are arguments in the domain`);
}

/** The names declared at module level whose values are mutable. */
function moduleHolders(source: SourceFile, found: string[]): Set<string> {
  const names = new Set<string>();
  for (const statement of source.tree.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    const line = lineOf(source.tree, statement);
    if (!(statement.declarationList.flags & ts.NodeFlags.Const)) found.push(`${source.path}:${line}: let at module level`);
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (!ts.isIdentifier(name) || initializer === undefined) continue;
      names.add(name.text);
      if (!ts.isNewExpression(initializer)) continue;
      const made = initializer.expression.getText(source.tree);
      const empty = (made === "Map" || made === "Set") && !initializer.arguments?.length;
      if (empty || STATEFUL_CLASSES.has(made)) found.push(`${source.path}:${line}: ${name.text} is a ${made} at module level`);
    }
  }
  return names;
}

/** The identifier that a node modifies in place: `x.set(…)`, `x.y = …`, `x[y] += …`, `delete x.y`. */
function changed(node: ts.Node): ts.Expression | undefined {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
    return MUTATING_METHODS.has(node.expression.name.text) ? node.expression.expression : undefined;
  const target =
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    node.operatorToken.kind <= ts.SyntaxKind.LastAssignment
      ? node.left
      : ts.isDeleteExpression(node)
        ? node.expression
        : undefined;
  if (target === undefined) return undefined;
  return ts.isPropertyAccessExpression(target) || ts.isElementAccessExpression(target) ? target.expression : undefined;
}

/** Reports state at module level: it would exist twice in one process, once in the server and once in Next's bundle. */
function moduleState(source: SourceFile): string[] {
  if (source.isTest || !source.path.startsWith("lib/") || source.path.startsWith("lib/testing/")) return [];
  const found: string[] = [];
  const names = moduleHolders(source, found);
  if (names.size === 0) return found;
  walk(source.tree, (node) => {
    const target = changed(node);
    if (target !== undefined && ts.isIdentifier(target) && names.has(target.text))
      found.push(`${source.path}:${lineOf(source.tree, node)}: changes ${target.text}, which lives at module level`);
  });
  return found;
}

/** All checks, in the order of their reports. */
export const HABITS = [longFile, longFunctions, strayEnvironment, strayConsole, impureDomain, moduleState] as const;
