import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "#lib/contract/operation";
import { lackingMethods } from "#lib/testing/client-methods";
import { recipe } from "#lib/testing/recipe";
import { OPERATION_LIST, operations } from "./declarations";

const ROOT = path.join(import.meta.dirname, "..", "..");
const COPIED = [
  "CHANGELOG.md",
  "package.json",
  "tsconfig.json",
  "lib",
  "components/playground",
  "server/cli",
  "server/pages",
  "app/api/v1",
];
const LEFT_OUT = /\.test\.ts$|\/(fixtures|generated|guides|pictures|v1\/(open|async)api\.json)$/;

/** What lists operations, and the compiler compares with their declarations. */
const COMPILED = ["lib/client/client.ts", "lib/operations/handlers.ts"];

const DECLARATION = `import { z } from "zod";
import { operation } from "#lib/contract/operation";
import { GUARD_ERRORS } from "#lib/contract/operation-errors";
import { ticker } from "#lib/contract/query";

const Spread = z
  .object({ ticker: z.string().describe("The ticker."), spread: z.number().describe("Its spread.") })
  .meta({ id: "Spread", description: "The spread of a ticker." });

export const widestSpread = operation({
  id: "widestSpread",
  method: "GET",
  path: "/api/v1/market/spreads/widest",
  scope: "market:read",
  summary: "Widest spread",
  description: "Returns the widest spread of a ticker.",
  query: { ticker },
  data: Spread,
  example: { ticker: "EURUSD", spread: 0.0001 },
  errors: ["invalid_parameter", ...GUARD_ERRORS],
  cost: () => 1,
  mcp: { tool: true },
});
`;
const ANSWER = `import { route } from "#lib/http/route";
import { widestSpread } from "./declaration";

export const handler = route(widestSpread, ({ query }) => ({ data: { ticker: query.ticker, spread: 0.0001 } }));
`;
const ROUTE = `import { routeOf } from "#server/pages/call-route";
import { handler } from "#lib/operations/widestSpread/answer";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = routeOf(handler);
`;
const PROBE = `import { playOperations } from "./components/playground/operations";
import { openApiDocument } from "#lib/docs/openapi";
import { postmanCollection } from "#lib/docs/postman";
import { referenceFiles } from "#lib/docs/reference/pages";
import { createApi } from "#lib/http/api";
import { openBareExchange } from "#lib/http/exchange";
import { listTools } from "#lib/mcp/tools";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { handlers } from "#lib/operations/handlers";
import { lackingMethods } from "#lib/testing/client-methods";
import { pythonContract } from "#server/cli/python-contract";
import { GET } from "./app/api/v1/market/spreads/widest/route";

const api = createApi(Object.values(handlers));
const ask = async (target: string) => (await api.answer(openBareExchange("GET", target, {}, null))).status;
const { paths } = openApiDocument();
const files = referenceFiles();
const found = {
  served: [await ask("/api/v1/market/spreads/widest"), await ask("/api/v1/market/spreads/narrowest")],
  routed: (await GET(new Request("http://host/api/v1/market/spreads/widest"))).status,
  openApi: paths["/api/v1/market/spreads/widest"]?.get?.operationId,
  page: files["operations/widest-spread.md"],
  record: files["records/spread.md"],
  postman: postmanCollection().item.find(({ name }) => name === "Widest spread")?.response[0]?.body,
  playground: playOperations().find(({ id }) => id === "widestSpread")?.fields.map(({ kind }) => kind),
  tool: listTools().find(({ name }) => name === "widestSpread")?.inputSchema.required,
  python: pythonContract("1.0.0")["_contract.py"]?.includes('"widestSpread": ("GET", "/api/v1/market/spreads/widest")'),
  lacking: lackingMethods(OPERATION_LIST),
};
process.stdout.write(JSON.stringify(found));
`;

describe("a new operation", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-operation-"));
  // biome-ignore lint/suspicious/noExplicitAny: what the probe printed
  let found: any;

  function write(file: string, text: string): void {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }

  /** Adds the operation to a list: its import, and its name before the one that ends the list. */
  function list(file: string, line: string): void {
    const text = readFileSync(path.join(folder, file), "utf8");
    write(file, `${line}\n${text.replace("\n  key,\n", "\n  key,\n  widestSpread,\n")}`);
  }

  beforeAll(() => {
    const filter = (source: string) => !LEFT_OUT.test(source.slice(ROOT.length));
    for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true, filter });
    symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
    symlinkSync(path.join(ROOT, "lib", "generated"), path.join(folder, "lib", "generated"));
    write("lib/operations/widestSpread/declaration.ts", DECLARATION);
    write("lib/operations/widestSpread/answer.ts", ANSWER);
    write("app/api/v1/market/spreads/widest/route.ts", ROUTE);
    list("lib/operations/declarations.ts", 'import { widestSpread } from "./widestSpread/declaration";');
    list("lib/operations/handlers.ts", 'import { handler as widestSpread } from "./widestSpread/answer";');
    write("probe.ts", PROBE);
    const command = ["--import", import.meta.resolve("tsx"), "probe.ts"];
    const { stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" });
    expect(stdout, stderr).not.toBe("");
    found = JSON.parse(stdout);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("is served at its path, where no service runs yet, and under Next", () => {
    expect(found.served).toEqual([503, 404]);
    expect(found.routed).toBe(503);
  });

  test("is in the OpenAPI document, the Postman collection and the contract of the Python client", () => {
    expect(found.openApi).toBe("widestSpread");
    expect(JSON.parse(found.postman)).toMatchObject({ code: 0, data: { ticker: "EURUSD" } });
    expect(found.python).toBe(true);
  });

  test("has a page with samples and the example of its declaration until a response is recorded, and its record has one", () => {
    expect(found.page).toContain('curl "http://localhost:3000/api/v1/market/spreads/widest?ticker=EURUSD"');
    expect(found.page).toContain('"spread": 0.0001');
    expect(found.record).toContain("[Widest spread](/docs/operations/widest-spread)");
  });

  test("is in the playground and a tool of agents", () => {
    expect(found.playground).toEqual(["ticker"]);
    expect(found.tool).toEqual(["ticker"]);
  });

  test("is named by the compiler where it has no handler, and where the client has no address of it", { tags: ["slow"] }, () => {
    cpSync(path.join(ROOT, "lib/operations/handlers.ts"), path.join(folder, "lib/operations/handlers.ts"));
    write("compiled.json", JSON.stringify({ extends: "./tsconfig.json", include: [], files: COMPILED }));
    const compiler = path.join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = spawnSync(process.execPath, [compiler, "--incremental", "false", "--project", "compiled.json"], {
      cwd: folder,
      encoding: "utf8",
    });
    // The words of an error can be in the line after that of its place.
    const errors = stdout.split(/\n(?=\S)/).filter((error) => error.includes("Property 'widestSpread' is missing"));
    expect(errors.map((error) => error.split("(")[0]).sort(), stdout).toEqual(COMPILED);
  });

  test("is named where a client has no method for it", () => {
    expect(found.lacking).toEqual([
      "lib/client/client.ts: Client has no method widestSpread",
      "lib/client-python/spotwire_client/_client.py: no method widest_spread",
      "lib/client-python/spotwire_client/_sync.py: no method widest_spread",
    ]);
  });
});

test.each([
  "lib/operations/<id>/declaration.ts",
  "lib/operations/<id>/answer.ts",
  "answer.test.ts",
  "lib/operations/declarations.ts",
  "handlers.ts",
  "app/api/v1/<path>/route.ts",
  ...lackingMethods([{ ...OPERATION_LIST[0], id: "nowhere" } as Operation]).map((lack) => lack.split(":")[0] ?? ""),
  "lib/client/queries.ts",
  "lib/contract/linked-ids.ts",
  "CHANGELOG.md",
])("the recipe of an operation names %s", (file) => {
  expect(recipe("Add a REST operation")).toContain(`\`${file}\``);
});

test("both clients have a method for every operation that a reader calls", () => {
  expect(lackingMethods(OPERATION_LIST)).toEqual([]);
});

test("an operation has its id as name, and a path of its own for its method", () => {
  for (const [id, operation] of Object.entries(operations)) expect(operation.id).toBe(id);
  expect(new Set(OPERATION_LIST.map(({ method, path: at }) => `${method} ${at}`)).size).toBe(OPERATION_LIST.length);
});
