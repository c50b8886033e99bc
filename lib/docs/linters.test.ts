import { describe, expect, test } from "vitest";
import { importTool } from "#lib/testing/tools";
import { openApiText } from "./openapi";

interface Redocly {
  createConfig(config: { extends: string[] }): Promise<object>;
  lintFromString(asked: { source: string; absoluteRef: string; config: object }): Promise<{ ruleId: string; message: string }[]>;
}
interface Spectral {
  readonly default: {
    Spectral: new () => {
      setRuleset(ruleset: object): void;
      run(source: string): Promise<{ code: string | number; path: (string | number)[]; message: string }[]>;
    };
  };
}

const { createConfig, lintFromString } = await importTool<Redocly>("@redocly/openapi-core");
const { default: spectral } = await importTool<Spectral>("@stoplight/spectral-core");
const { oas } = await importTool<{ oas: object }>("@stoplight/spectral-rulesets");

/** What the strictest ruleset of Redocly says, as `redocly lint --extends recommended-strict`. */
async function redocly(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

/** What Spectral's own rules for OpenAPI say, as `spectral lint --ruleset spectral:oas`. */
async function spectralOas(source: string): Promise<string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [oas] });
  const problems = await linter.run(source);
  return problems.map(({ code, path, message }) => `${code}: ${path.join(".")} ${message}`);
}

describe.each([
  ["Redocly's recommended-strict", redocly],
  ["Spectral's oas", spectralOas],
])("%s", (_, lint) => {
  test("finds nothing in the OpenAPI document", async () => expect(await lint(openApiText())).toEqual([]));

  test("finds an operation that is not described", async () => {
    const { paths, ...broken } = JSON.parse(openApiText());
    const { operationId: _, description: __, summary: ___, ...operation } = paths["/api/v1/key"].get;
    broken.paths = { "/api/v1/key": { get: operation } };
    expect(await lint(JSON.stringify(broken))).not.toEqual([]);
  });
});
