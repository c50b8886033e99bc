import ts from "typescript";
import { lineOf, type SourceFile, walk } from "./sources";

/** Places where the environment may be read: lib/env, and code that starts the product from outside. */
const ENVIRONMENT_READERS = ["server/env.ts", "lib/testing/", "server/testing/", "e2e/"];
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

/** Reports a literal that is spread into another one: `{ ...{ a, b }, c }` is `{ a, b, c }`. */
function spreadLiterals(source: SourceFile): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    const isSpread = ts.isSpreadAssignment(node) || ts.isSpreadElement(node) || ts.isJsxSpreadAttribute(node);
    if (!isSpread) return;
    const { expression, parent } = node;
    if (
      ts.isObjectLiteralExpression(expression) ||
      (ts.isArrayLiteralExpression(expression) && ts.isArrayLiteralExpression(parent))
    )
      found.push(`${source.path}:${lineOf(source.tree, node)}: write the parts of a literal in place instead of spreading it`);
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

/** Reports reads of the environment outside server/env. */
function strayEnvironment(source: SourceFile): string[] {
  if (within(source, ENVIRONMENT_READERS)) return [];
  return accesses(source, "process", "env").map((line) => `${source.path}:${line}: process.env is read in server/env alone`);
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

/** What readers of an installation are shown, and where they may be shown the name of the program: in the credit, and where it is a default. */
const SHOWN = ["app/", "components/", "lib/", "server/pages/", "server/store/users/", "server/jobs/"];
const PROGRAM_NAMERS = ["components/site/footer.tsx", "lib/env-brand.ts", "lib/client/", "lib/testing/"];
const PROGRAM = /\bSpotwire\b(?!\.mq5)/;

/** Reports texts with the name of the program: an installation may go by another one. */
function strayName(source: SourceFile): string[] {
  if (source.isTest || !within(source, SHOWN) || within(source, PROGRAM_NAMERS)) return [];
  const found: string[] = [];
  if (!PROGRAM.test(source.tree.text)) return found;
  walk(source.tree, (node) => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node);
    if (isText && PROGRAM.test(node.text))
      found.push(`${source.path}:${lineOf(source.tree, node)}: the service is called by the name of its brand (lib/brand)`);
  });
  return found;
}

/** Words of pages that would have a second meaning, or are said in two ways, and what is said instead. */
const WORDS: readonly (readonly [word: RegExp, instead: string])[] = [
  [/(?:^|\d) %/, "“5%”, without a space"],
  [/\btest keys?\b/i, "“sandbox key”: live and sandbox are the venues"],
  [/\b[Nn]ot live\b/, "“not streaming”: live is a venue"],
  [/\b(?:change|range) of the day\b/i, "“day change”, “day range”"],
  [/\bhalf-open\b/, "“from (included) to (excluded)”"],
  [/\baround the clock\b/, "“24/7”"],
  [/\bYour time,|\b[Aa]ll times\b|\btimes UTC\b/, "“Times in …”"],
  [/\b(?:an|the) address that\b/i, "“URL”, “IP address” or “email”"],
];

/** Reports texts of pages with a word that means something else elsewhere. */
function strayWord(source: SourceFile): string[] {
  if (source.isTest || !within(source, ["app/", "components/"])) return [];
  const found: string[] = [];
  const words = WORDS.filter(([word]) => word.test(source.tree.text));
  if (words.length === 0) return found;
  walk(source.tree, (node) => {
    if (!ts.isStringLiteralLike(node) && !ts.isTemplateLiteralToken(node) && !ts.isJsxText(node)) return;
    for (const [word, instead] of words)
      if (word.test(node.text)) found.push(`${source.path}:${lineOf(source.tree, node)}: say ${instead}`);
  });
  return found;
}

/** Reports forms whose fields the browser would check: it says so in a bubble, in its own words and language, of one field at a time. */
function bubbles(source: SourceFile): string[] {
  if (source.isTest || !within(source, ["app/", "components/"]) || !source.tree.text.includes("<form")) return [];
  const found: string[] = [];
  walk(source.tree, (node) => {
    const isForm =
      (ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node)) && node.tagName.getText(source.tree) === "form";
    if (!isForm) return;
    const isOurs = node.attributes.properties.some((one) =>
      ts.isJsxSpreadAttribute(one)
        ? /(?:^|\.)formProps$/.test(one.expression.getText(source.tree))
        : one.name?.getText(source.tree) === "noValidate",
    );
    if (!isOurs) found.push(`${source.path}:${lineOf(source.tree, node)}: a form has the formProps of useSubmit, or noValidate`);
  });
  return found;
}

/** Where dates become text: one module writes them, `Instant` shows them, and controls take the time of the device. */
const DATE_WRITERS = ["components/portal/date-format.ts", "components/portal/time.tsx", "components/portal/local-time.ts"];
/** What may write some by itself, and why. */
const OWN_DATES: Readonly<Record<string, string>> = {
  "app/.well-known/security.txt/route.ts": "a file for programs",
  "components/admin/calendar/dates-form.tsx": "the value of a control",
  "components/admin/calendar/ics.ts": "a format of files",
  "components/admin/definition-dialog.tsx": "the value of a control",
  "components/playground/notes.ts": "notes on records, which have times in UTC",
  "components/playground/records-format.ts": "records as the API answers them, in UTC",
};
const DATE_TEXT = /^(?:to(?:Locale)?(?:Date|Time)String|toLocaleString|toUTCString|get(?:UTC)?(?:Hours|Minutes))$/;
/** A date or a time that is cut out of ISO 8601. */
const ISO_CUT = /^(?:slice|substring|substr|split|replace|replaceAll|match|at)$/;

/** Reports dates and times that pages would write in their own way: not in the zone of the page, or not as elsewhere. */
function strayDates(source: SourceFile): string[] {
  if (source.isTest || !within(source, ["app/", "components/"]) || within(source, [...DATE_WRITERS, ...Object.keys(OWN_DATES)]))
    return [];
  const found: string[] = [];
  walk(source.tree, (node) => {
    const isIsoCut =
      ts.isPropertyAccessExpression(node) &&
      ISO_CUT.test(node.name.text) &&
      ts.isCallExpression(node.expression) &&
      /\.toISOString$/.test(node.expression.expression.getText(source.tree));
    const isFormat =
      ts.isPropertyAccessExpression(node) &&
      (DATE_TEXT.test(node.name.text) || node.getText(source.tree) === "Intl.DateTimeFormat");
    if (isIsoCut || isFormat)
      found.push(`${source.path}:${lineOf(source.tree, node)}: Instant shows times, timeText writes them (components/portal)`);
  });
  return found;
}

/** Where the driver's own connections may be opened: the class of all others, what asks for the zone of a database, and rivals of a bench. */
const DRIVER_USERS = ["server/store/database/", "prisma/migrate.ts", "server/testing/", "server/bench/", "e2e/"];

/** Reports connections to PostgreSQL that are not of the class that sets the time zone of its session. */
function strayConnections(source: SourceFile): string[] {
  if (source.isTest || within(source, DRIVER_USERS) || !source.tree.text.includes('"pg"')) return [];
  const found: string[] = [];
  walk(source.tree, (node) => {
    if (!ts.isNewExpression(node)) return;
    const made = node.expression.getText(source.tree);
    const isOwn = node.arguments?.some((given) => given.getText(source.tree).includes("Client: Connection"));
    if (/^(pg\.)?(Client|Pool)$/.test(made) && !isOwn)
      found.push(`${source.path}:${lineOf(source.tree, node)}: connections are made by Connection, whose session is in UTC`);
  });
  return found;
}

/** All checks, in the order of their reports. */
export const HABITS = [
  spreadLiterals,
  strayEnvironment,
  strayConsole,
  impureDomain,
  moduleState,
  strayName,
  strayWord,
  bubbles,
  strayDates,
  strayConnections,
] as const;
