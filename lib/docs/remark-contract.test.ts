import { describe, expect, test } from "vitest";
import { ERROR_IDS } from "#lib/contract/errors";
import { Kline } from "#lib/contract/kline";
import { FINAL_DISPLAY_STATES, STATUS_REASONS } from "#lib/contract/status";
import { markdownTable } from "./markdown-table";
import { markdownOf } from "./page-markdown";
import { expandContract } from "./remark-contract";
import { CONTRACT_TABLES } from "./tables";

/** A processor that keeps what it was given to parse. */
const processor = { parse: (text: string) => ({ type: "root", children: [{ type: "parsed", value: text }] }) };

function expanded(...children: object[]) {
  const tree = { type: "root", children: [{ type: "paragraph", children }] };
  expandContract.call(processor)(tree as never);
  return tree.children[0]?.children;
}
const element = (name: string, attributes: object[] = [], children: object[] = []) => ({
  type: "mdxJsxTextElement",
  name,
  attributes,
  children,
});
const id = (value: string) => ({ type: "mdxJsxAttribute", name: "id", value });

describe("a guide", () => {
  test("gets the tables of the contract, with every row", () => {
    const [table] = expanded(element("StatusTable")) as { value: string }[];
    for (const name of [...FINAL_DISPLAY_STATES, ...STATUS_REASONS]) expect(table?.value).toContain(`\`${name}\``);
    for (const error of ERROR_IDS) expect(CONTRACT_TABLES.ErrorsTable?.()).toContain(`[\`${error}\`](/docs/errors/`);
    expect(CONTRACT_TABLES.CloseCodes?.()).toContain("4008");
    expect(CONTRACT_TABLES.LimitsTable?.()).toContain("| demo | 60 | 20 | 2 | 20 |");
  });

  test("gets the fields of a record, all or those it names", () => {
    const fields = (attributes: Record<string, string>) => {
      const [table] = expanded(
        element(
          "Fields",
          Object.entries(attributes).map(([name, value]) => ({ type: "mdxJsxAttribute", name, value })),
        ),
      ) as { value: string }[];
      return table?.value.match(/(?<=^\| `)[^`]+/gm);
    };
    expect(fields({ of: "Kline" })).toEqual(Object.keys(Kline.shape));
    expect(fields({ of: "Snapshot", only: "close open" })).toEqual(["open", "close"]);
    expect(fields({ of: "SubscribeParams" })).toEqual(expect.arrayContaining(["tickers", "resume.seq"]));
    expect(() => fields({ of: "Candle" })).toThrow('of="Candle"');
    expect(() => fields({ of: "Kline", only: "open volume" })).toThrow("no field volume");
  });

  test("links operations by their id, under their own name or another", () => {
    const url = "/docs/operations/latest-quotes";
    const own = { type: "text", value: "here" };
    expect(expanded(element("OperationLink", [id("latestQuotes")]))).toEqual([
      { type: "link", url, children: [{ type: "text", value: "Latest quotes" }] },
    ]);
    expect(expanded(element("OperationLink", [id("latestQuotes")], [own]))).toEqual([{ type: "link", url, children: [own] }]);
  });

  test("does not build with a link to an operation that does not exist", () => {
    expect(() => expanded(element("OperationLink", [id("candles")]))).toThrow('id="candles"');
    expect(() => expanded(element("OperationLink"))).toThrow("names no operation");
  });

  test("has the names of files that change with a release, in texts, code and links", () => {
    const wheel = expect.stringMatching(/^spotwire_client-\d+\.\d+\.\d+-py3-none-any\.whl$/);
    expect(expanded({ type: "text", value: "PYTHON_WHEEL" }, { type: "link", url: "/downloads/PYTHON_SDIST" })).toEqual([
      { type: "text", value: wheel },
      { type: "link", url: expect.stringMatching(/^\/downloads\/spotwire_client-\d+\.\d+\.\d+\.tar\.gz$/) },
    ]);
  });

  test("keeps everything else, without comments and the mark for those who run its samples", () => {
    const code = { type: "code", meta: 'tab="curl" norun', value: "x" };
    const sum = { type: "mdxFlowExpression", value: "1 + 1" };
    expect(expanded({ type: "mdxFlowExpression", value: "/* for editors */" }, sum)).toEqual([sum]);
    expect(expanded(code, element("Callout"))).toEqual([{ type: "code", meta: 'tab="curl"', value: "x" }, element("Callout")]);
  });
});

describe("a page as Markdown", () => {
  const state = { containerFlow: () => "first\n\nsecond" };
  const print = (name: string, attributes: object[] = []) =>
    markdownOf.stringify({ type: "mdxJsxFlowElement", name, attributes }, undefined, state, undefined);

  test("has quotes for callouts and names above tabs", () => {
    expect(print("Callout", [{ name: "type", value: "warn" }])).toBe("> **Warning.** first\n> \n> second");
    expect(print("Callout")).toMatch(/^> \*\*Note\.\*\*/);
    expect(print("Tab", [{ name: "value", value: "curl" }])).toBe("curl:\n\nfirst\n\nsecond");
    expect(markdownOf.stringify({ type: "paragraph" }, undefined, state, undefined)).toBeUndefined();
  });

  test("has lists for cards, and the captions of diagrams", () => {
    const card = print("Card", [
      { name: "title", value: "History" },
      { name: "href", value: "/docs/klines" },
    ]);
    expect(card).toBe("- [History](/docs/klines): first\n\nsecond");
    expect(print("Diagram", [{ name: "name", value: "paging" }])).toBe("*Diagram: first\n\nsecond*");
    for (const name of ["Cards", "Steps", "Views", "View"]) expect(print(name)).toBe("first\n\nsecond");
  });

  test("has tables whose cells cannot end them", () => {
    expect(markdownTable(["a"], [["x | y\nz"]])).toBe("| a |\n| --- |\n| x \\| y z |");
  });
});
