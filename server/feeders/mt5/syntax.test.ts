import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { INGEST_MAX_LINES, KLINE_CLOSE_DELAY_MS, KLINES_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import { importTool, toolFile } from "#lib/testing/tools";
import { toParsable } from "#server/testing/mt5/rewrite";

interface Node {
  readonly type: string;
  readonly isError: boolean;
  readonly isMissing: boolean;
  readonly hasError: boolean;
  readonly startPosition: { readonly row: number };
  readonly children: readonly (Node | null)[];
}
interface TreeSitter {
  readonly Language: { load(file: string): Promise<object> };
  readonly Parser: {
    init(): Promise<void>;
    new (): { setLanguage(language: object): void; parse(text: string): { readonly rootNode: Node } | null };
  };
}
const { Language, Parser } = await importTool<TreeSitter>("web-tree-sitter");

const source = readFileSync(path.join(import.meta.dirname, "Spotwire.mq5"), "utf8");

let parser: InstanceType<TreeSitter["Parser"]>;

beforeAll(async () => {
  await Parser.init();
  parser = new Parser();
  parser.setLanguage(await Language.load(await toolFile("tree-sitter-cpp/tree-sitter-cpp.wasm")));
});

/** Where the syntax of an MQL5 source is wrong: line and text of each place. */
function errorsOf(text: string): string[] {
  const tree = parser.parse(toParsable(text));
  const found: string[] = [];
  const visit = (node: Node) => {
    if (node.isError || node.isMissing)
      found.push(`${node.startPosition.row + 1}: ${node.isMissing ? "missing " : ""}${node.type}`);
    else if (node.hasError) for (const child of node.children) if (child) visit(child);
  };
  if (tree) visit(tree.rootNode);
  return found;
}

/** The line of the first place of a text. */
const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split("\n").length;
/** The value of a constant of the Expert Advisor. */
const constant = (name: string) => Number(new RegExp(`^#define ${name} (\\d+)$`, "m").exec(source)?.[1]);

describe("the syntax of the Expert Advisor", () => {
  test("the Expert Advisor has no syntax error", () => {
    expect(errorsOf(source)).toEqual([]);
  });

  test.each([
    ["semicolon", "failures++;", "failures++"],
    ["operand", "ulong nowMs = GetTickCount64();", "ulong nowMs = ;"],
    ["operator", "count += Collect(", "count Collect("],
    ["parenthesis", "if(busy)", "if(busy"],
    ["brace", "void OnTimer()\n{", "void OnTimer()\n"],
  ])("a missing %s is found near its line", (_, right, wrong) => {
    expect(source).toContain(right);
    const broken = source.replace(right, wrong);
    const lines = errorsOf(broken).map((error) => Number.parseInt(error, 10));
    expect(lines.length).toBeGreaterThan(0);
    expect(Math.min(...lines.map((line) => Math.abs(line - lineOf(source, right))))).toBeLessThanOrEqual(2);
  });

  test("parentheses and braces of the Expert Advisor are balanced", () => {
    const code = source.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/.*$/gm, "");
    const count = (sign: string) => code.split(sign).length;
    for (const [open, close] of ["()", "{}", "[]"] as unknown as [string, string][]) expect(count(open), open).toBe(count(close));
  });

  test("dates, colors, imports and inputs of MQL5 are read, too", () => {
    const text = [
      '#import "kernel32.dll"',
      "#import",
      'input group "A"',
      "sinput int Days = 3; // Days",
      "datetime start = D'2026.01.01 00:00';",
      "int red = C'255,0,0';",
    ];
    expect(errorsOf(text.join("\n"))).toEqual([]);
  });
});

test("batches of the Expert Advisor are within the limits of the service, and it asks for its state after a minute has closed there", () => {
  expect(constant("BATCH_MAX_TICKS")).toBeLessThanOrEqual(INGEST_MAX_LINES);
  expect(constant("BATCH_MAX_KLINES")).toBe(KLINES_MAX_LIMIT_ROWS);
  expect(constant("SETTLE_MS")).toBeGreaterThan(KLINE_CLOSE_DELAY_MS);
});
