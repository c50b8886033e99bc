import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectral, { type RulesetDefinition } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import { describe, expect, test } from "vitest";
import { openApiText } from "./openapi";

/** What the strictest ruleset of Redocly says, as `redocly lint --extends recommended-strict`. */
async function redocly(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

/** What Spectral's own rules for OpenAPI say, as `spectral lint --ruleset spectral:oas`. */
async function spectralOas(source: string): Promise<string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [oas as RulesetDefinition] });
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
