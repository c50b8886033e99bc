import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { providerTerms, TERMS } from "./provider-terms";

test.each(Object.entries(TERMS))("the guide of %s says the same about passing prices on", (provider, terms) => {
  expect(readFileSync(`lib/docs/guides/providers/${provider}.mdx`, "utf8")).toContain(`**Terms.** ${terms}`);
});

test("the terms shown are those of the configured sources, and none without a source", () => {
  expect(providerTerms(["none"])).toEqual([]);
  expect(providerTerms(["push", "oanda"])).toMatchObject([
    { provider: "push", guide: "/docs/providers#passing-data-on" },
    { provider: "oanda", terms: TERMS.oanda, guide: "/docs/providers/oanda" },
  ]);
});
