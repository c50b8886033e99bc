import ts from "typescript";
import { lineOf, type SourceFile, walk } from "./sources";

/** Packages that read or write outside the memory of the process. */
const PACKAGES = [
  "pg",
  "@prisma/client",
  "@prisma/adapter-pg",
  "@redis/client",
  "nodemailer",
  "undici",
  "ws",
  "node:fs",
  "node:net",
  "node:tls",
  "node:dns",
  "node:dgram",
  "node:http",
  "node:https",
  "node:http2",
  "node:child_process",
  "node:cluster",
  "node:worker_threads",
];
/** What these have that only computes. */
const COMPUTED = ["BlockList", "isIP", "isIPv4", "STATUS_CODES"];
const SQL = /\b(SELECT\s[\s\S]*\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\s/;
/** Functions of Prisma's client, and of pg's. */
const QUERY = /(\.\$(queryRaw|executeRaw|transaction)\w*|\bprisma\.\w+\.\w+|\b(pool|client|connection)\.query)$/;

/** Files of lib that contain some of this nevertheless, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "lib/client/socket-ws.ts": "the published client opens its own connections, where the runtime has no WebSocket",
  "lib/docs/reference/documents.ts": "reads CHANGELOG.md and security.md when the documentation is generated",
  "lib/docs/samples/file-readers.ts": "shows a query that readers run on their own machine",
};

function isComputed(statement: ts.Node | undefined): boolean {
  const named = statement !== undefined && ts.isImportDeclaration(statement) && statement.importClause?.namedBindings;
  return named && ts.isNamedImports(named) ? named.elements.every(({ name }) => COMPUTED.includes(name.text)) : false;
}

/** Where a file of lib reads or writes, which only the server may: one sentence each. Tests and their support are exempt. */
export function inputOutput({ path, tree, imports, isTest }: SourceFile): string[] {
  if (!path.startsWith("lib/") || path.startsWith("lib/testing/") || isTest || path in EXCEPTIONS) return [];
  const found: string[] = [];
  for (const { line, target, internal, typeOnly } of imports) {
    const isStore = internal && target.startsWith("lib/generated/prisma/");
    const isPackage = !internal && PACKAGES.some((name) => target === name || target.startsWith(`${name}/`));
    if (!isStore && (!isPackage || (typeOnly && target.startsWith("node:")))) continue;
    if (isComputed(tree.statements.find((statement) => lineOf(tree, statement) === line))) continue;
    found.push(`${path}:${line}: imports ${target}`);
  }
  walk(tree, (node) => {
    const called = ts.isCallExpression(node) ? node.expression : ts.isTaggedTemplateExpression(node) ? node.tag : undefined;
    const text = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) ? node.getText(tree) : "";
    if (SQL.test(text)) found.push(`${path}:${lineOf(tree, node)}: contains SQL`);
    if (called !== undefined && QUERY.test(called.getText(tree))) found.push(`${path}:${lineOf(tree, node)}: asks the database`);
  });
  return found;
}
